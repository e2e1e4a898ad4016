import { Check, Circle } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { ACTIVATE, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { date } from '#ui/format/times.ts';
import { Section } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';
import { LIMIT_SCOPES } from './forecast.tsx';

type Routine = Shape<'RoutineDetail'>;

const REASONS: Readonly<Record<NonNullable<Routine['activation']['reason']>, string>> = {
  own_variables_required:
    'Run the routine with its own variables first: the runs of this version that succeeded had other values.',
  successful_run_required: 'Run the routine first: a run of this version has to succeed.',
  routine_archived: 'The routine is archived.',
  definition_unreadable: 'A newer release wrote this routine, and this release cannot read all of it.',
  schedule_ended: 'The schedule has ended. Change its end first.',
  allowance_exceeded: 'The plan allows no more active routines.',
};

/** Shows the three steps to a routine that runs by itself: saved, proven, active. */
export function Activation({ routine }: { readonly routine: Routine }) {
  const { id: routineId, activation, state, revision, updatedAt } = routine;
  const projectId = useProjectId();
  const run = useVerb(RUN_NOW);
  const activate = useVerb(ACTIVATE);
  const isActive = state === 'active';
  const isProven = activation.proofRunId !== null;
  if (state === 'archived') return null;
  return (
    <Section title="Activation">
      <ol className="divide-y divide-line rounded-lg border border-line bg-surface">
        <Step isDone title="Saved">
          Version {revision}, <Time at={updatedAt} as="relative" />
        </Step>
        <Step
          isDone={isProven}
          title="Tried"
          action={!isProven && <VerbButton verb={run} of={routine} size="sm" label="Run it" />}
        >
          {activation.proofRunId === null ? (
            'No manual run of this version has succeeded yet'
          ) : (
            <Link
              to="/p/$projectId/runs/$runId"
              params={{ projectId, runId: activation.proofRunId }}
              className="text-accent-ink underline underline-offset-2"
            >
              By this run
            </Link>
          )}
        </Step>
        <Step
          isDone={isActive}
          title="Active"
          action={
            !isActive && (
              <VerbButton
                verb={activate}
                of={routine}
                size="sm"
                kind="primary"
                bare
                disabledReason={activation.reason === null ? undefined : REASONS[activation.reason]}
              />
            )
          }
        >
          {isActive ? (
            <>
              Next run <Time at={routine.nextRunAt} />
            </>
          ) : (
            <>
              {activeLine(routine)}
              {activation.ready && <OverLimit routineId={routineId} />}
            </>
          )}
        </Step>
      </ol>
    </Section>
  );
}

/** Warns before the activation that a limit runs out; the forecast itself is on the same page. */
function OverLimit({ routineId }: { readonly routineId: string }) {
  const forecast = useRead('/v1/routines/{routineId}/forecast', { path: { routineId } });
  const runsOut = forecast.data?.runsOut ?? null;
  if (runsOut === null) return null;
  const day = date(new Date(`${runsOut.on}T12:00:00Z`), 'UTC');
  return (
    <p className="text-warn-ink">
      By the forecast, a limit of {LIMIT_SCOPES[runsOut.scope].toLowerCase()} runs out on {day}; runs are skipped from
      then on.
    </p>
  );
}

function activeLine({ activation: { reason }, state }: Routine): string {
  if (reason !== null) return REASONS[reason];
  return state === 'paused' ? 'Paused; ready to continue' : 'Ready to go on its schedule';
}

function Step({
  isDone,
  title,
  action,
  children,
}: {
  isDone: boolean;
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  const Icon = isDone ? Check : Circle;
  return (
    <li className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <Icon
        aria-hidden
        strokeWidth={isDone ? 2.25 : 1.75}
        className={isDone ? 'size-4 text-good' : 'size-4 text-faint'}
      />
      <span className="w-20 text-base font-medium text-ink">
        {title}
        <span className="sr-only">{isDone ? ', done' : ', not yet'}</span>
      </span>
      <span className="min-w-0 grow basis-40 text-sm text-muted">{children}</span>
      {action}
    </li>
  );
}
