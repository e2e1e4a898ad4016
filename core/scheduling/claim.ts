import { setTimeout as sleep } from 'node:timers/promises';
import { isOver, timeFor, timetableOf, withoutJitter } from '#core/foundation/timetable/index.ts';
import { setNextTimes } from '#core/authoring/routines/index.ts';
import { occurrences as occurrencesOfRuns, replaceOpenRuns, type EndDeps } from '#core/execution/runs/index.ts';
import { isUnavailable, transaction } from '#lib/database/index.ts';
import { dueWithinSeconds, lockDueRoutines, type DueRoutine } from './due-routines.ts';
import { decide, occurrenceRows, type Decision, type OccurrenceRow } from './occurrence.ts';
import { pauseWithNews } from './reconcile.ts';
import { judgeOccurrences, type SkipRules } from './skip-reasons.ts';

/** Routines claimed in one transaction: enough to be cheap, and few enough to lock the rows only briefly. */
const CLAIM_BATCH = 500;

export interface ClaimReport {
  readonly runs: number;
  readonly skipped: number;
}

export const NOTHING_CLAIMED: ClaimReport = { runs: 0, skipped: 0 };

/**
 * Claims everything that is due, and waits for routines that fall due within two seconds. A caller whose clock is ahead
 * of the database's would otherwise find nothing at the full minute.
 */
export async function claimAll(deps: ClaimDeps, signal: AbortSignal): Promise<ClaimReport> {
  const first = await claimBatches(deps, signal);
  const waitMs = await dueWithinSeconds(deps.database);
  if (waitMs === undefined) return first;
  await sleep(Math.max(Math.ceil(waitMs), 1), undefined, { signal });
  const second = await claimBatches(deps, signal);
  return { runs: first.runs + second.runs, skipped: first.skipped + second.skipped };
}

/** Number of routines whose claims may fail in one call. With more failures the fault is not in a row. */
const MOST_FAILURES = 20;

/**
 * Claims in batches. When a batch fails, claims one by one until the failing routine is found, and continues without
 * it. Otherwise it would block all others, because the longest due comes first.
 */
async function claimBatches(deps: ClaimDeps, signal: AbortSignal): Promise<ClaimReport> {
  let runs = 0;
  let skipped = 0;
  let size = CLAIM_BATCH;
  const failing: string[] = [];
  for (let first: unknown; ;) {
    signal.throwIfAborted();
    let tried: string[] = [];
    const locked = (ids: string[]) => void (tried = ids);
    let claimed: Claimed;
    try {
      claimed = await claimDueRoutines(deps, size, { except: failing, locked });
    } catch (error) {
      if (isUnavailable(error) || tried.length === 0 || failing.length >= MOST_FAILURES) throw error;
      first ??= error;
      const isFound = tried.length === 1;
      if (isFound) {
        failing.push(...tried);
        deps.log.error({ err: error, routineId: tried[0] }, 'a due routine could not be claimed');
      }
      size = isFound ? CLAIM_BATCH : 1;
      continue;
    }
    runs += claimed.runs;
    skipped += claimed.skipped;
    const { lagSeconds, skippedBy } = claimed;
    if (lagSeconds !== undefined) deps.metrics.claimed({ lagSeconds, runs: claimed.runs, skipped: skippedBy });
    if (claimed.runs > 0) deps.admission.nudge();
    // A short batch may also mean that another tick has locked the rest and will finish it.
    if (claimed.more) continue;
    if (first !== undefined) throw first;
    return { runs, skipped };
  }
}

export type ClaimDeps = SkipRules & EndDeps;

interface Claimed extends ClaimReport {
  /** True when more may be due. */
  readonly more: boolean;
  /** Counts skipped occurrences by reason; one row may stand for many. */
  readonly skippedBy: ReadonlyMap<string, number>;
  /** Lateness of the oldest in the batch, in seconds; undefined when nothing was due. */
  readonly lagSeconds: number | undefined;
}

const NOTHING: Claimed = { ...NOTHING_CLAIMED, more: false, skippedBy: new Map(), lagSeconds: undefined };

/**
 * Claims one batch of due routines in one transaction: inserts a row for every occurrence and advances the next times.
 * It skips rows that another tick has locked, and the unique index on (routine, instant) lets none be claimed twice.
 * @param batch.except ids of routines to leave out
 * @param batch.locked gets the ids of the routines that are being claimed
 */
export function claimDueRoutines(
  deps: ClaimDeps,
  batchSize: number,
  batch: { readonly except?: readonly string[]; readonly locked?: (ids: string[]) => void } = {},
): Promise<Claimed> {
  return transaction(deps.database, async (tx) => {
    const due = await lockDueRoutines(tx, batchSize, batch.except);
    batch.locked?.(due.map(({ id }) => id));
    const [oldest] = due;
    if (oldest === undefined) return NOTHING;
    const { decided, unreadable, ended } = decideInTime(due);
    const candidates = decided.filter(({ decision }) => decision.run !== undefined);
    const verdicts = await judgeOccurrences(
      tx,
      deps,
      candidates.map(({ routine }) => routine),
    );
    const occurrences = [
      ...decided.flatMap(({ routine: { id }, decision }) =>
        occurrenceRows(id, decision, {
          reason: verdicts.reasons.get(id),
          detail: verdicts.details.get(id),
          afterPrevious: verdicts.afterPrevious.has(id),
        }),
      ),
      ...unreadable.flatMap(({ id, dueAt }) =>
        occurrenceRows(id, { run: dueAt, missed: undefined }, { reason: 'blocked' }),
      ),
    ];
    await replaceOpenRuns(deps, tx, verdicts.cancelPrevious);
    const inserted = await occurrencesOfRuns.insertOccurrences(tx, occurrences);
    await setNextTimes(
      tx,
      decided.map(({ routine: { id }, next }) => ({ id, next })),
    );
    const blocked = new Map(
      occurrences.filter(({ id }) => inserted.has(id)).map(({ id, routine_id: routineId }) => [routineId, id]),
    );
    const runIds = new Map(unreadable.map(({ id }) => [id, blocked.get(id) ?? null]));
    await pauseWithNews(deps, tx, { unreadable: runIds, ended });
    const runs = occurrences.filter(({ state }) => state === 'queued').length;
    const undecided = due.length - decided.length - unreadable.length - ended.length;
    return {
      more: due.length === batchSize || undecided > 0,
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
 * Decides as many routines as fit into two seconds, at least one. After a long outage each may have thousands of missed
 * occurrences to count while the transaction locks the rows. The rest stays due for the next batch.
 */
function decideInTime(due: readonly DueRoutine[]) {
  const end = performance.now() + 2_000;
  const decided: Decided[] = [];
  const unreadable: DueRoutine[] = [];
  const ended: string[] = [];
  for (const routine of due) {
    if (isOver(routine, routine.dueAt)) {
      ended.push(routine.id);
      continue;
    }
    const found = tryDecide(routine);
    if (found === undefined) unreadable.push(routine);
    else decided.push(found);
    if (performance.now() > end) break;
  }
  return { decided, unreadable, ended };
}

interface Decided {
  readonly routine: DueRoutine;
  readonly decision: Decision;
  /** Time at which the routine is due again. */
  readonly next: Date;
}

/** Returns undefined for a stored schedule that cannot be computed, so that the other routines continue. */
function tryDecide(routine: DueRoutine): Decided | undefined {
  try {
    const decision = decide({
      timetable: timetableOf(routine),
      misfire: routine.misfire,
      dueAt: withoutJitter(routine, routine.dueAt),
      accountedUntil: routine.accountedUntil,
      now: withoutJitter(routine, routine.now),
    });
    return { routine, decision, next: timeFor(routine, decision.next) };
  } catch {
    return undefined;
  }
}
