import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { useNow } from '#ui/format/now.ts';
import { count, money, plural } from '#ui/format/numbers.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Meter } from '#ui/parts/meter.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Attention, Row, since } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { News } from './news.tsx';
import { Week } from './week.tsx';

const { useParams } = getRouteApi('/account/p/$projectId/');

/** Shows what has come in, what needs attention, how the week went, what comes next and what it costs. */
export function HomePage() {
  const { projectId } = useParams();
  const project = useRead('/v1/projects/{projectId}', { path: { projectId } });
  return (
    <>
      <PageHeader
        title="Home"
        actions={
          <ButtonLink
            kind="primary"
            icon={Plus}
            to="/p/$projectId/routines/new"
            params={{ projectId }}
          >
            New routine
          </ButtonLink>
        }
      />
      {/* They are for the person's own project. */}
      {project.data?.isDemo === false && <Checklist key={projectId} projectId={projectId} />}
      <div className="grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0">
          <News projectId={projectId} />
          <Attention projectId={projectId} />
          <Week projectId={projectId} />
          <Upcoming projectId={projectId} />
        </div>
        <div className="min-w-0">
          <Spend projectId={projectId} />
        </div>
      </div>
    </>
  );
}

/** Shows what the month has cost so far, against the budget of the project where it has one. */
function Spend({ projectId }: { readonly projectId: string }) {
  const today = useNow(60_000).toISOString().slice(0, 10);
  const usage = useRead(
    '/v1/usage',
    { query: { from: `${today.slice(0, 8)}01`, to: today, groupBy: 'day' } },
    { everyMs: 60_000 },
  );
  const project = useRead('/v1/projects/{projectId}', { path: { projectId } });
  const budget = project.data?.budget;
  return (
    <Section
      title="This month"
      boxed
      actions={
        <TextLink to="/p/$projectId/usage" params={{ projectId }}>
          Usage
        </TextLink>
      }
    >
      <Await of={usage} skeleton={<SkeletonText />} errorTitle="The usage could not be read">
        {({ total, groups }) => (
          <div className="flex flex-col gap-5">
            <div>
              <p className="text-xl font-semibold tracking-tight text-ink tabular">
                {total.steps === 0 ? money(0) : money(total.costUsd)}
              </p>
              <p className="mt-0.5 text-sm text-muted">
                {count(total.totalTokens)} tokens in {plural(total.steps, 'model step')}
              </p>
            </div>
            {budget?.maxCostUsdPerMonth != null && (
              <Meter
                label="Budget"
                value={Number(total.costUsd ?? 0)}
                max={Number(budget.maxCostUsdPerMonth)}
                format={(value) => money(value)}
              />
            )}
            {budget?.maxTokensPerDay != null && (
              <Meter
                label="Tokens today"
                value={groups.find(({ key }) => key === today)?.totalTokens ?? 0}
                max={budget.maxTokensPerDay}
              />
            )}
            {budget !== undefined &&
              budget.maxCostUsdPerMonth === null &&
              budget.maxTokensPerDay === null && (
                <p className="text-sm text-muted">
                  This project has no budget.{' '}
                  <TextLink to="/p/$projectId/settings" params={{ projectId }}>
                    Set one
                  </TextLink>
                </p>
              )}
            <p className="text-xs text-faint">Days and months are those of UTC.</p>
          </div>
        )}
      </Await>
    </Section>
  );
}

const HOUR_MS = 3_600_000;
const REFRESH_MS = 10_000;
const SHOWN = 8;

/** Lists what runs now and what starts within the hour. */
function Upcoming({ projectId }: { readonly projectId: string }) {
  const running = useRead(
    '/v1/runs',
    { query: { state: 'running', limit: SHOWN } },
    { everyMs: REFRESH_MS },
  );
  const now = useNow(60_000).getTime();
  const due = useRead(
    '/v1/schedules/occurrences',
    { query: { from: since(0, now), to: since(-HOUR_MS, now) } },
    { everyMs: 60_000, keepPrevious: true },
  );
  return (
    <Section
      title="Now and within the hour"
      actions={
        <TextLink to="/p/$projectId/calendar" params={{ projectId }}>
          Calendar
        </TextLink>
      }
    >
      <Await
        of={due}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="The schedule could not be read"
      >
        {({ occurrences }) => {
          const runs = running.data ?? [];
          const next = occurrences.filter(({ startsAt }) => Date.parse(startsAt) > now);
          if (runs.length === 0 && next.length === 0) {
            return (
              <p className="rounded-lg border border-line bg-surface px-4 py-3 text-base text-muted">
                Nothing runs now, and nothing is due within the hour.
              </p>
            );
          }
          return (
            <>
              <ul className="border-t border-line">
                {runs.map((run) => (
                  <Row
                    key={run.id}
                    link={{ to: '/p/$projectId/runs/$runId', params: { projectId, runId: run.id } }}
                    title={run.routineName}
                    badge={<StateBadge state="running" />}
                    aside={<Time at={run.startedAt} as="relative" />}
                  />
                ))}
                {next.slice(0, SHOWN).map(({ routineId, routineName, startsAt }) => (
                  <Row
                    key={`${routineId} ${startsAt}`}
                    link={{
                      to: '/p/$projectId/routines/$routineId',
                      params: { projectId, routineId },
                    }}
                    title={routineName}
                    aside={<Time at={startsAt} as="countdown" />}
                  />
                ))}
              </ul>
              {next.length > SHOWN && (
                <p className="mt-2 text-sm text-muted">
                  {next.length - SHOWN} more within the hour stand in the calendar.
                </p>
              )}
            </>
          );
        }}
      </Await>
    </Section>
  );
}
