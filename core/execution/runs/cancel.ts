import type { Core } from '#core/core.ts';
import type { Actor } from '#core/foundation/audit/index.ts';
import { stopRoutine, type Routine } from '#core/authoring/routines/index.ts';
import { sql, transaction, eachApart, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { cancellation, type RunState } from '#core/execution/run-states/index.ts';
import { recordEnd, type EndDeps } from './end-run.ts';
import { askedToStop, cancelOpenRuns } from './replace.ts';
import { readRun } from './queries.ts';
import type { Run } from './run.ts';

/**
 * Cancels a run. A queued run ends at once; a running run ends at its next step, or sooner if Temporal is up.
 * @throws {AppError} `run_not_found`, `run_not_cancellable`
 */
export async function cancelRun(deps: EndDeps, projectId: string, id: string): Promise<Run> {
  const run = await requestCancellation(deps, projectId, id);
  await deps.engine
    .cancelRun(id)
    .catch((err: unknown) => deps.log.warn({ err, runId: id }, 'a tick will repeat the cancellation'));
  return run;
}

/**
 * Records the request, and ends a run that is still queued. The next step and every tick look for the request, so the
 * run ends even when Temporal cannot be reached now.
 */
function requestCancellation(deps: EndDeps, projectId: string, id: string): Promise<Run> {
  return transaction(deps.database, async (tx) => {
    const asked = await tx.row<{ state: RunState }>`
      update runs set ${askedToStop(cancellation)}
      where id = ${id} and project_id = ${projectId} and state in ('queued', 'running')
      returning state
    `;
    if (asked === undefined) {
      await readRun(tx, projectId, id);
      throw new AppError('run_not_cancellable');
    }
    if (asked.state === 'queued') await recordEnd(deps, tx, id, cancellation);
    return readRun(tx, projectId, id);
  });
}

/**
 * Cancels the open runs that meet a condition on `runs`, also runs that a person started. Each run is cancelled in a
 * separate transaction, which waits for the run's row and has no other lock. A run that starts meanwhile stays.
 * @throws the first error of a run that could not be stopped, after the other runs were stopped
 */
export async function stopRuns(deps: EndDeps, which: Sql): Promise<void> {
  const open = await deps.database.rows<{ id: string; routineId: string }>`
    select id, routine_id as "routineId" from runs
    where ${which} and state in ('queued', 'running') and cancel_requested_at is null
    order by id
  `;
  const stop = ({ id, routineId }: { readonly id: string; readonly routineId: string }) =>
    transaction(deps.database, (tx) =>
      cancelOpenRuns(deps, tx, [routineId], { ending: cancellation, which: sql`id = ${id}`, waits: true }),
    );
  await eachApart(open, stop, {
    failed: (err, { id: runId }) => deps.log.error({ err, runId }, 'a run could not be stopped'),
  });
}

/**
 * Pauses a routine, and with `cancelRuns` cancels all its open runs too, even if it was paused before.
 * @throws {AppError} `routine_not_found`, `routine_archived`
 */
export async function pauseWithRuns(
  deps: EndDeps & Pick<Core, 'emit'>,
  by: Actor,
  input: { projectId: string; id: string; cancelRuns: boolean },
): Promise<Routine> {
  const { projectId, id, cancelRuns } = input;
  const routine = await stopRoutine(deps, by, { projectId, id, state: 'paused' });
  // Stop the runs outside the transaction that locked the routine: a run that is ending has locked its own row and
  // waits for the row of the routine, so the two would deadlock.
  if (cancelRuns) await stopRuns(deps, sql`routine_id = ${id}`);
  return routine;
}
