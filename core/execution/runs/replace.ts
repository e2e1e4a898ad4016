import { isWork } from '#core/foundation/engine/index.ts';
import { afterCommit, empty, sql, transaction, type Db, type Sql } from '#lib/database/index.ts';
import { waiting } from '#core/execution/admission/index.ts';
import { replacement, type RunEnding, type RunState } from '#core/execution/run-states/index.ts';
import { recordEnd, type EndDeps } from './end-run.ts';

/** Cancels the open runs of routines to make way for the next occurrence, as `cancelOpenRuns` does. */
export function replaceOpenRuns(deps: EndDeps, tx: Db, routineIds: readonly string[]): Promise<void> {
  return cancelOpenRuns(deps, tx, routineIds, { ending: replacement, which: inTheWay });
}

/**
 * Cancels open runs that were locked when an occurrence that replaces them was claimed, which is rare. A run that is
 * locked again is left to the next call; the occurrence waits meanwhile.
 */
export async function replaceMissed(deps: EndDeps): Promise<void> {
  const missed = await deps.database.rows<{ id: string; routineId: string }>`
    select previous.id, next.routine_id as "routineId"
    from (
      select id, routine_id from runs where ${waiting} and after_previous and trigger = 'schedule'
    ) next join routines r on r.id = next.routine_id
    cross join lateral (
      select id from runs
      where routine_id = next.routine_id and state in ('queued', 'running') and ${inTheWay} and id < next.id
        and cancel_requested_at is null
    ) previous
    where r.overlap = 'cancel_previous'
  `;
  if (missed.length === 0) return;
  await transaction(deps.database, (tx) =>
    cancelOpenRuns(
      deps,
      tx,
      missed.map(({ routineId }) => routineId),
      { ending: replacement, which: sql`id = any(${missed.map(({ id }) => id)})` },
    ),
  );
}

/**
 * Cancels the open runs of routines in the caller's transaction. Queued runs end. Running runs get a request, which
 * their next step and every sweep read; after the commit Temporal gets the request too.
 * @param cancel.waits waits for locked runs instead of skipping them; only for a transaction that has locked no
 * routine, because the end of a run locks the run before its routine
 */
export async function cancelOpenRuns(
  deps: EndDeps,
  tx: Db,
  routineIds: readonly string[],
  cancel: { readonly ending: RunEnding; readonly which: Sql; readonly waits?: boolean },
): Promise<void> {
  if (routineIds.length === 0) return;
  const { ending, which, waits = false } = cancel;
  const open = await tx.rows<{ id: string; state: RunState }>`
    with open as (
      select id from runs where routine_id = any(${routineIds}) and state in ('queued', 'running') and ${which}
      for no key update ${waits ? empty : sql`skip locked`}
    )
    update runs set ${askedToStop(ending)}
    from open where runs.id = open.id
    returning runs.id, state
  `;
  for (const { id } of open.filter(({ state }) => state === 'queued')) await recordEnd(deps, tx, id, ending);
  const { engine, log } = deps;
  for (const { id: runId } of open.filter(({ state }) => state === 'running')) {
    afterCommit(tx, () => {
      engine.cancelRun(runId).catch((err: unknown) => log.warn({ err, runId }, 'a sweep repeats the cancellation'));
    });
  }
}

/**
 * Asks an open run to stop and says why: assignments for an update of `runs`. The first request counts, so a person who
 * cancels a run that is being replaced changes nothing.
 */
export function askedToStop({ reason }: Pick<RunEnding, 'reason'>): Sql {
  return sql`cancel_requested_at = coalesce(cancel_requested_at, now()),
        cancel_reason = case when cancel_requested_at is null then ${reason} else cancel_reason end`;
}

/**
 * SQL condition on `runs`: an open run delays the next occurrence of its routine. Other runs do not: a run that waits
 * for its time (perhaps a year), a run of a backfill (which starts last), a follow-up, a rehearsal, and the run of a
 * proposal.
 */
export const inTheWay = sql`not held and trigger <> 'backfill' and ${isWork(sql`trigger`)} and routine_revision > 0`;
