import { getRouteApi } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { LOCALE, VIEWER_ZONE } from '#ui/format/locale.ts';
import { needText } from '#ui/format/need-words.ts';
import { count } from '#ui/format/numbers.ts';
import { date } from '#ui/format/times.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { RichText } from '#ui/parts/lazily.tsx';
import { Box, KeyValue, PageHeader, Section } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Schedule } from '#ui/parts/schedule.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { CustomSkill } from './custom-skill.tsx';
import { UsedBy, UseInRoutine } from './used-by.tsx';
import { bestRun, categoryTitle, sampleOf } from './words.ts';

const { useParams } = getRouteApi('/account/p/$projectId/skills/$skillId');

/** Shows a curated skill, or the editor of a custom one. */
export function SkillPage() {
  const { projectId, skillId } = useParams();
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId } });
  return (
    <Await
      of={skill}
      errorTitle={skill.error?.status === 404 ? 'This skill does not exist' : COULD_NOT}
      header={
        <PageHeader
          title="Skill"
          back={{ label: 'Skills', link: { to: '/p/$projectId/skills', params: { projectId } } }}
        />
      }
      skeleton={<SkeletonText lines={8} />}
    >
      {(found) =>
        found.id === null ? (
          <CuratedSkill skill={found} slug={skillId} />
        ) : (
          <CustomSkill key={found.id} skill={found} id={found.id} />
        )
      }
    </Await>
  );
}

const COULD_NOT = 'The skill could not be read';

type Skill = Shape<'Skill'>;

/** Shows a curated skill: its text, and the sources of its facts. */
function CuratedSkill({ skill, slug }: { readonly skill: Skill; readonly slug: string }) {
  const projectId = useProjectId();
  const sample = sampleOf(skill.instructions);
  return (
    <>
      <PageHeader
        title={skill.name}
        actions={<UseInRoutine skill={slug} />}
        badge={<Badge>{categoryTitle(skill.category ?? 'curated')}</Badge>}
        description={skill.description}
        back={{ label: 'Skills', link: { to: '/p/$projectId/skills', params: { projectId } } }}
      />
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_17rem]">
        <div className="min-w-0">
          <Section
            title="What it works on"
            description="The routine provides this data, by its tools or in its instructions."
          >
            <Needs skill={skill} />
          </Section>
          {sample !== undefined && (
            <Section title="A result looks like this" description="The names and figures are invented." boxed>
              <RichText text={sample} />
            </Section>
          )}
          <Section title="Instructions" description="The model gets exactly this text.">
            <Box className="p-0!">
              <Fold summary={`${count(skill.length)} characters`}>
                <RichText text={skill.instructions} />
              </Fold>
            </Box>
          </Section>
          <Section
            title="Sources"
            description={skill.checked === null ? undefined : `Checked on ${date(new Date(skill.checked), 'UTC')}.`}
          >
            <Sources sources={skill.sources} />
          </Section>
        </div>
        <aside className="min-w-0 max-lg:order-first">
          <Section title="At a glance">
            <Facts skill={skill} />
          </Section>
          <UsedBy skill={slug} />
        </aside>
      </div>
    </>
  );
}

function Facts({ skill }: { readonly skill: Skill }) {
  return (
    <Box>
      <KeyValue
        narrow
        facts={[
          { label: 'Best run', value: bestRun(skill) },
          ...(skill.suggestedSchedule === null
            ? []
            : [{ label: 'Schedule', value: <Suggested schedule={skill.suggestedSchedule} /> }]),
          { label: 'Version', value: skill.version },
        ]}
      />
    </Box>
  );
}

function Suggested({ schedule }: { readonly schedule: string }) {
  const { data } = useRead('/v1/schedules/preview', { query: { schedule, timezone: VIEWER_ZONE } });
  return <Schedule words={data?.inWords ?? schedule} cron={schedule} />;
}

/** Lists the needs of the skill, and how a routine meets them. */
function Needs({ skill }: { readonly skill: Skill }) {
  const projectId = useProjectId();
  if (skill.needs.length === 0) return <p className="text-base text-ink">Only the instructions of the routine.</p>;
  return (
    <p className="text-base text-ink">
      {capitalized(new Intl.ListFormat(LOCALE).format(skill.needs.map(needText)))}.{' '}
      <TextLink to="/p/$projectId/connections" params={{ projectId }}>
        Connect a service that offers this data
      </TextLink>
      , or write the data into the instructions.
    </p>
  );
}

function Sources({ sources }: { readonly sources: Skill['sources'] }) {
  return (
    <ul className="flex flex-col gap-3">
      {sources.map(({ name, url, backs }) => (
        <li key={url} className="text-sm">
          <a
            href={url}
            target="_blank"
            rel="noreferrer noopener"
            className="inline-flex items-center gap-1 rounded-sm font-medium text-accent-ink underline-offset-2 hover:underline"
          >
            {name}
            <ExternalLink aria-label="opens elsewhere" className="size-3.5" />
          </a>
          <p className="text-muted">{backs}</p>
        </li>
      ))}
    </ul>
  );
}
