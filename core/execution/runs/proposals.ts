import { proposals } from '#core/authoring/routines/index.ts';
import type { Events } from '#core/events.ts';
import { cancellation } from '#core/execution/run-states/index.ts';
import { afterCommit, sql, type Db } from '#lib/database/index.ts';
import { stopRuns } from './cancel.ts';
import type { EndDeps } from './end-run.ts';
import { enqueueManualRun, startAdmitted, type ManualRun, type StartDeps } from './enqueue.ts';
import { cancelOpenRuns } from './replace.ts';

/**
 * Opens a proposal for an active routine and starts the run that tries it. Returns the proposal unchanged if an earlier
 * attempt of the same request has opened it.
 * @throws {AppError} the errors of `proposeChange` and `enqueueManualRun`
 */
export async function startProposal(
  deps: StartDeps & Parameters<typeof proposals.proposeChange>[0],
  input: proposals.ProposedChange & Pick<ManualRun, 'organizationId' | 'plan' | 'startedBy'>,
) {
  const { organizationId, plan, projectId, routineId, startedBy, runId: id } = input;
  const { proof, ...opened } = await proposals.proposeChange(deps, input, (tx, revision) =>
    enqueueManualRun(deps, tx, { id, projectId, organizationId, plan, routineId, revision, startedBy }),
  );
  if (proof !== undefined) await startAdmitted(deps, proof);
  return opened;
}

/** Cancels the runs of dropped proposals; a locked run is cancelled after the commit, once its row is free. */
export async function cancelProofs(deps: EndDeps, tx: Db, { routineIds }: Events['proposal.dropped']): Promise<void> {
  await cancelOpenRuns(deps, tx, routineIds, { ending: cancellation, which: isDropped });
  afterCommit(tx, () => {
    stopRuns(deps, sql`routine_id = any(${routineIds}) and ${isDropped}`).catch((err: unknown) =>
      deps.log.warn({ err }, 'a sweep repeats the cancellations'),
    );
  });
}

/** Cancels the open runs of all routines whose proposals are no longer open. */
export function stopProofs(deps: EndDeps): Promise<void> {
  return stopRuns(deps, isDropped);
}

const isDropped = sql`routine_revision < 0 and not exists (
  select from routine_proposals p
  where p.routine_id = runs.routine_id and p.project_id = runs.project_id and p.run_id = runs.id and p.state = 'open')`;

/**
 * Moves the run of an accepted proposal to the routine's new version, as its proof. The proposal's own version,
 * numbered below zero, is gone.
 */
export async function adoptProof(tx: Db, { projectId, runId, revision }: Events['proposal.taken']): Promise<void> {
  await tx.run`
    update runs set routine_revision = ${revision}
    where id = ${runId} and project_id = ${projectId} and routine_revision < 0
  `;
}
