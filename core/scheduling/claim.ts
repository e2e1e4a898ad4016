import { transaction, type Database } from '#lib/database/index.ts';
import { lockDueRoutines, pauseUnreadable, setNextTimes, type DueRoutine } from './due-routines.ts';
import { insertOccurrences, occurrenceRows, type OccurrenceRow } from './occurrence-rows.ts';
import { decide, type Decision } from './occurrence.ts';
import { parseStoredSchedule } from './schedule/index.ts';
import { reasonsToSkip, type SkipRules } from './skip-reasons.ts';

export interface ClaimDeps extends SkipRules {
  readonly database: Database;
}

export interface Claimed {
  /** Whether there may be more to claim at once. */
  readonly more: boolean;
  readonly runs: number;
  readonly skipped: number;
  /** Occurrences passed over, by reason; a row may stand for many. */
  readonly skippedBy: ReadonlyMap<string, number>;
  /** How late the oldest of the batch was; undefined when nothing was due. */
  readonly lagSeconds: number | undefined;
}

const NOTHING: Claimed = {
  more: false,
  runs: 0,
  skipped: 0,
  skippedBy: new Map(),
  lagSeconds: undefined,
};

/**
 * Claims one batch of due routines: inserts a row for every occurrence and advances the next times, in one
 * transaction that skips what another tick holds. Overlapping ticks therefore never claim the same occurrence; the
 * unique index on (routine, instant) stands behind that.
 */
export function claimDueRoutines(deps: ClaimDeps, batchSize: number): Promise<Claimed> {
  return transaction(deps.database, async (tx) => {
    const due = await lockDueRoutines(tx, batchSize);
    const [oldest] = due;
    if (oldest === undefined) return NOTHING;
    const { decided, unreadable } = decideInTime(due);
    const candidates = decided.filter(({ decision }) => decision.run !== undefined);
    const reasons = await reasonsToSkip(
      tx,
      deps,
      candidates.map(({ routine }) => routine),
    );
    const occurrences = [
      ...decided.flatMap(({ routine: { id }, decision }) =>
        occurrenceRows(id, decision, reasons.get(id)),
      ),
      ...unreadable.flatMap(({ id, dueAt }) =>
        occurrenceRows(id, { run: dueAt, missed: undefined }, 'blocked'),
      ),
    ];
    await insertOccurrences(tx, occurrences);
    await setNextTimes(
      tx,
      decided.map(({ routine: { id }, decision: { next } }) => ({ id, next })),
    );
    await pauseUnreadable(
      tx,
      unreadable.map(({ id }) => id),
    );
    const runs = occurrences.filter(({ state }) => state === 'queued').length;
    const undecided = due.length - decided.length - unreadable.length;
    const more = due.length === batchSize || undecided > 0;
    return {
      more,
      runs,
      skipped: occurrences.length - runs,
      skippedBy: countByReason(occurrences),
      lagSeconds: (oldest.now.getTime() - oldest.dueAt.getTime()) / 1_000,
    };
  });
}

function countByReason(occurrences: readonly OccurrenceRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { reason, skipped_count: count } of occurrences) {
    if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + (count ?? 1));
  }
  return counts;
}

/**
 * Decides as many as fit into two seconds, at least one: after a long outage each may have thousands of missed
 * occurrences to count, and the transaction holds the rows meanwhile. The rest stay due for the next batch.
 */
function decideInTime(due: readonly DueRoutine[]) {
  const end = performance.now() + 2_000;
  const decided: { routine: DueRoutine; decision: Decision }[] = [];
  const unreadable: DueRoutine[] = [];
  for (const routine of due) {
    const decision = tryDecide(routine);
    if (decision === undefined) unreadable.push(routine);
    else decided.push({ routine, decision });
    if (performance.now() > end) break;
  }
  return { decided, unreadable };
}

/** A stored schedule that this process cannot compute, after a change of time zone data, must not stop the others. */
function tryDecide(routine: DueRoutine): Decision | undefined {
  try {
    return decide({ ...routine, schedule: parseStoredSchedule(routine.schedule) });
  } catch {
    return undefined;
  }
}
