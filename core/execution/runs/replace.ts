import { kickDeliveries } from '#core/delivery/webhooks/index.ts';
import { empty, sql, transaction, type Db, type Sql } from '#lib/database/index.ts';
import { waiting } from '#core/execution/admission/index.ts';
import { replacement, type RunEnding, type RunState } from '#core/execution/run-states/index.ts';
import { afterEnd, recordEnd, type AfterEndDeps, type RecordedEnd } from './end-run.ts';

/** Open runs that stop, because the next occurrence replaces them or a person stops them. */
export interface ReplacedRuns {
  /** Ends of the runs that had not begun. */
  readonly ends: readonly RecordedEnd[];
  /** Ids of running runs that have been asked to stop. */
  readonly cancelled: readonly string[];
}

/** Cancels the open runs of routines to make way for the next occurrence, as `cancelOpenRuns` does. */
export function replaceOpenRuns(tx: Db, routineIds: readonly string[]): Promise<ReplacedRuns> {
  return cancelOpenRuns(tx, routineIds, { ending: replacement, which: inTheWay });
}

/**
 * Cancels the open runs that a waiting occurrence replaces and that were locked when it was claimed, which is rare. A
 * run that is locked again is left to the next call; the occurrence waits meanwhile.
 */
export async function replaceMissed(deps: AfterEndDeps): Promise<void> {
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
  const replaced = await transaction(deps.database, (tx) =>
    cancelOpenRuns(
      tx,
      missed.map(({ routineId }) => routineId),
      { ending: replacement, which: sql`id = any(${missed.map(({ id }) => id)})` },
    ),
  );
  await afterReplacing(deps, replaced);
}

/**
 * Cancels the open runs of routines in the caller's transaction: queued runs end, running ones get a request that their
 * next step and every sweep look for. The caller calls `afterReplacing` after its commit.
 * @param cancel.waits waits for locked runs instead of skipping them; only for a transaction that holds no routine,
 * because the end of a run locks the run before its routine
 */
export async function cancelOpenRuns(
  tx: Db,
  routineIds: readonly string[],
  cancel: { readonly ending: RunEnding; readonly which: Sql; readonly waits?: boolean },
): Promise<ReplacedRuns> {
  if (routineIds.length === 0) return { ends: [], cancelled: [] };
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
  const ends: RecordedEnd[] = [];
  for (const { id } of open.filter(({ state }) => state === 'queued')) {
    const end = await recordEnd(tx, id, ending);
    if (end !== undefined) ends.push(end);
  }
  return { ends, cancelled: open.filter(({ state }) => state === 'running').map(({ id }) => id) };
}

/**
 * Asks an open run to stop and says why: assignments for an update of `runs`. The first request counts, so a person who
 * cancels a run that is being replaced changes nothing.
 */
export function askedToStop({ reason }: Pick<RunEnding, 'reason'>): Sql {
  return sql`cancel_requested_at = coalesce(cancel_requested_at, now()),
        cancel_reason = case when cancel_requested_at is null then ${reason} else cancel_reason end`;
}

/** Follows up the recorded ends, and tells Temporal of the cancellations. The sweep repeats the latter. */
export async function afterReplacing(deps: AfterEndDeps, replaced: ReplacedRuns): Promise<void> {
  for (const end of replaced.ends) await afterEnd(deps, end, { kicks: false });
  if (replaced.ends.some(({ deliveries }) => deliveries.length > 0)) await kickDeliveries(deps);
  // All at once: while Temporal is away the caller waits for one deadline, not for many.
  await Promise.all(
    replaced.cancelled.map((id) =>
      deps.engine
        .cancelRun(id)
        .catch((err: unknown) => deps.log.warn({ err, runId: id }, 'a sweep repeats the cancellation')),
    ),
  );
}

/**
 * SQL condition on `runs`: an open run holds up the next occurrence of its routine. A run that waits for its time does
 * not, since that may be a year away, nor does one of a backfill, which comes last.
 */
export const inTheWay = sql`not held and trigger <> 'backfill'`;
