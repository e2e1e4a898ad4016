import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { ExternalKey } from '#ui/parts/managed.tsx';
import { KeyValue, Section, type Fact } from '#ui/parts/page.tsx';
import { isDefault, labelOf, OTHER_FIELDS, valueInWords } from '#ui/parts/routine-fields.ts';
import { SUMMARIES } from '#ui/parts/routine-summaries.ts';
import { Schedule } from '#ui/parts/schedule.tsx';
import { SkillName } from '#ui/parts/names.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Activation } from './activation.tsx';
import { Forecast } from './forecast.tsx';
import { LastResult } from './last-result.tsx';

type Routine = Shape<'RoutineDetail'>;

/** Shows the state of the routine, its schedule, its expected cost and its text. */
export function Overview({ routine }: { readonly routine: Routine }) {
  return (
    <div className="grid gap-x-8 gap-y-8 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0">
        <LastResult routineId={routine.id} />
        <Activation routine={routine} />
        <Instructions routine={routine} />
        <Section title="Settings" boxed>
          <KeyValue facts={factsOf(routine)} />
        </Section>
      </div>
      <aside className="min-w-0">
        <NextRuns routine={routine} />
        <Forecast routine={routine} />
      </aside>
    </div>
  );
}

function NextRuns({ routine: { nextRuns, state, timezone, schedule, scheduleInWords } }: { routine: Routine }) {
  return (
    <Section
      title={state === 'active' ? 'Next runs' : 'Next times'}
      description={
        state === 'active'
          ? undefined
          : state === 'archived'
            ? 'After the routine is restored and activated.'
            : 'After the routine is activated.'
      }
      boxed
    >
      <p className="mb-2 text-sm text-ink">
        <Schedule words={scheduleInWords} cron={schedule} />
      </p>
      {nextRuns.length === 0 ? (
        <p className="text-sm text-muted">The schedule has no time left.</p>
      ) : (
        <ol className="flex flex-col gap-1 text-sm tabular">
          {nextRuns.map((at, index) => (
            <li key={at} className="flex justify-between gap-3">
              <Time at={at} zone={timezone} className={index === 0 ? 'text-ink' : 'text-muted'} />
              {index === 0 && state === 'active' && <Time at={at} as="countdown" className="text-muted" />}
            </li>
          ))}
        </ol>
      )}
      <p className="mt-2 text-xs text-faint">
        {timezone}
        {timezone !== VIEWER_ZONE && nextRuns[0] !== undefined && (
          <>
            {'. The first is '}
            <Time at={nextRuns[0]} /> for you
          </>
        )}
      </p>
    </Section>
  );
}

function Instructions({ routine }: { routine: Routine }) {
  const projectId = useProjectId();
  const variables = Object.entries(routine.variables);
  return (
    <Section
      title="Instructions"
      boxed
      actions={
        <ButtonLink
          kind="quiet"
          size="sm"
          className="-mr-2.5"
          to="/p/$projectId/routines/$routineId/versions"
          params={{ projectId, routineId: routine.id }}
        >
          Versions
        </ButtonLink>
      }
    >
      <p className="max-h-80 overflow-y-auto text-base wrap-anywhere whitespace-pre-wrap text-ink">
        {routine.instructions}
      </p>
      {variables.length > 0 && (
        <dl className="mt-4 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 border-t border-line pt-3 text-sm">
          {variables.map(([name, value]) => (
            <div key={name} className="contents">
              <dt>
                <code className="text-xs text-muted">{name}</code>
              </dt>
              <dd className="min-w-0 wrap-anywhere text-ink">{value === '' ? '(empty)' : value}</dd>
            </div>
          ))}
        </dl>
      )}
      {routine.skills.length > 0 && (
        <div className="mt-4 flex flex-wrap items-center gap-1.5 border-t border-line pt-3">
          <span className="mr-1 text-sm text-faint">Skills</span>
          {routine.skills.map((reference) => (
            <Badge key={reference}>
              <SkillName id={reference} />
            </Badge>
          ))}
        </div>
      )}
    </Section>
  );
}

function factsOf(routine: Routine): Fact[] {
  const { More: _more, ...groups } = SUMMARIES;
  return [
    { label: 'Model', value: routine.model.modelId },
    ...Object.entries(groups).map(([label, summaryOf]) => ({ label, value: capitalized(summaryOf(routine)) })),
    ...OTHER_FIELDS.filter((name) => !isDefault(name, routine[name])).map((name) => ({
      label: labelOf(name),
      value: valueInWords(name, routine[name]),
    })),
    ...(routine.externalKey === null ? [] : [{ label: 'Key', value: <ExternalKey of={routine.externalKey} /> }]),
    { label: 'Created', value: <Time at={routine.createdAt} /> },
  ];
}
