import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { WITHDRAW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { Notice } from './feedback.tsx';
import { TextLink } from './text-link.tsx';
import { VerbButton } from './verb-button.tsx';

type Reason = NonNullable<Shape<'Proposal'>['reason']>;

/** Reasons why a change was not taken over. Reasons that the person at the page caused need no words. */
const DROPPED: Partial<Record<Reason, string>> = {
  run_failed: 'its run failed',
  run_cancelled: 'the run was cancelled',
  run_skipped: 'the run never began',
  run_partial: 'the run did only a part of the work',
  routine_changed: 'the routine or its tools were changed meanwhile',
  schedule_ended: 'the schedule has no time left',
};

/** Says that a run tries a change of the routine, or why the last change was not taken over. */
export function ProposalNotice({
  routine: { proposal, revision, updatedAt },
}: {
  readonly routine: Pick<Shape<'RoutineDetail'>, 'proposal' | 'revision' | 'updatedAt'>;
}) {
  const projectId = useProjectId();
  const withdraw = useVerb(WITHDRAW);
  if (proposal === null) return null;
  const { runId, state, reason, endedAt } = proposal;
  const link = (
    <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId }}>
      {state === 'open' ? 'Follow its run' : 'See its run'}
    </TextLink>
  );
  if (state === 'open') {
    return (
      <Notice>
        <span>
          A change is being tried. The schedule still runs version {revision} until the test succeeds. {link}
        </span>
        <VerbButton verb={withdraw} of={proposal} size="sm" bare />
      </Notice>
    );
  }
  const words = reason === null ? undefined : DROPPED[reason];
  // The routine has changed since then, so the notice is outdated.
  if (words === undefined || endedAt === null || updatedAt > endedAt) return null;
  return (
    <Notice tone="warn">
      <span>
        The last change was not taken over: {words}. The routine continues with version {revision}. {link}
      </span>
    </Notice>
  );
}
