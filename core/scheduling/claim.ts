import { setTimeout as sleep } from 'node:timers/promises';
import { isOver, timeFor, timetableOf, withoutJitter } from '#core/foundation/timetable/index.ts';
import { paidPlanOf } from '#core/accounts/billing/index.ts';
import { pauseStopped, setNextTimes } from '#core/authoring/routines/index.ts';
import { notifyPaused } from '#core/delivery/notifications/index.ts';
import { accountOf, breakerIsOpen } from '#core/execution/breaker/index.ts';
import {
  followPauses,
  occurrences as occurrencesOfRuns,
  replaceOpenRuns,
  type EndDeps,
} from '#core/execution/runs/index.ts';
import { budgetColumns } from '#core/usage/index.ts';
import { empty, isUnavailable, sql, transaction, type Db } from '#lib/database/index.ts';
import {
  decide,
  judgeOccurrences,
  occurrenceRows,
  type Decision,
  type DueRoutine,
  type OccurrenceRow,
  type SkipRules,
} from './occurrence.ts';

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

/**
 * Returns the milliseconds until the next routine is due: zero or less if one is due now, undefined if none is due
 * within two seconds.
 */
async function dueWithinSeconds(db: Db): Promise<number | undefined> {
  const [soon] = await db.rows<{ ms: number | null }>`
    select (extract(epoch from min(next_run_at) - now()) * 1000)::float8 as ms from routines
    where state = 'active' and next_run_at <= now() + interval '2 seconds'
  `;
  return soon?.ms ?? undefined;
}

/**
 * Number of routines whose claims may fail in one call. More failures mean that the fault does not lie in single rows.
 */
const MOST_FAILURES = 20;

/**
 * Claims in batches. When a batch fails, claims one by one until the failing routine is found, and continues without
 * it. A failing routine would otherwise block all others, because the routine that is due longest comes first.
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
  /** True when more routines may be due. */
  readonly more: boolean;
  /** Number of skipped occurrences for each reason; one row may cover many occurrences. */
  readonly skippedBy: ReadonlyMap<string, number>;
  /** Lateness of the oldest occurrence in the batch, in seconds; undefined when nothing was due. */
  readonly lagSeconds: number | undefined;
}

const NOTHING: Claimed = { ...NOTHING_CLAIMED, more: false, skippedBy: new Map(), lagSeconds: undefined };

/**
 * Claims one batch of due routines in one transaction: inserts a row for every occurrence and advances the next times.
 * Rows that another tick has locked are skipped, and the unique index on (routine, instant) prevents a second claim.
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

/**
 * Locks due routines, the longest due first, and skips routines that another tick has locked.
 * @param except ids of routines to leave out, because their claim has failed
 */
export function lockDueRoutines(tx: Db, batchSize: number, except: readonly string[] = []): Promise<DueRoutine[]> {
  return tx.rows<DueRoutine>`
    with due as (
      -- Limited and locked before the joins, so that they look up one batch only.
      select id, project_id, schedule, timezone, starts_at, ends_at, skip_dates, jitter_seconds, model_provider,
      model_connection_id, model_id, overlap, misfire, not_before,
        ${budgetColumns('r')} as budget, next_run_at
      from routines r
      where state = 'active' and next_run_at <= now() ${except.length === 0 ? empty : sql`and id <> all(${except})`}
      order by next_run_at
      limit ${batchSize}
      -- Not 'for update', which the foreign key of a run that is inserted meanwhile would wait for.
      for no key update skip locked
    )
    select due.id, due.project_id as "projectId", p.organization_id as "organizationId",
      ${paidPlanOf(sql`o`)} as "paidPlan", due.schedule, due.timezone, due.starts_at as "startsAt",
      due.ends_at as "endsAt", due.skip_dates as "skipDates", due.jitter_seconds as "jitterSeconds",
      due.model_provider as provider,
      ${accountOf(sql`due`)} as account, ${breakerIsOpen(accountOf(sql`due`))} as "breakerOpen", due.overlap,
      due.misfire, due.not_before as "notBefore", due.next_run_at as "dueAt",
      jsonb_build_object('routine', due.budget, 'project', ${budgetColumns('p')},
        'organization', ${budgetColumns('o')}) as budgets,
      last.until as "accountedUntil", now() as now
    from due
    join projects p on p.id = due.project_id
    join organizations o on o.id = p.organization_id
    left join lateral (
      select coalesce(skipped_until, scheduled_for) as until from runs
      where routine_id = due.id and scheduled_for is not null
      order by scheduled_for desc limit 1
    ) last on true
    order by due.next_run_at
  `;
}

function countByReason(occurrences: readonly OccurrenceRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { reason, skipped_count: count } of occurrences) {
    if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + (count ?? 1));
  }
  return counts;
}

/**
 * Decides about as many routines as fit into two seconds, at least one. After a long outage each routine may have
 * thousands of missed occurrences to count while the transaction locks the rows. The other routines stay due for the
 * next batch.
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

export type PauseDeps = Parameters<typeof followPauses>[0];

/** Routines that must be paused, by reason. */
interface Stopped {
  /** Routines whose schedule this process cannot compute, each with the occurrence that could not run, if any. */
  readonly unreadable: ReadonlyMap<string, string | null>;
  /** Ids of the routines whose window is over. */
  readonly ended: readonly string[];
}

/** Pauses routines whose rows the transaction has locked, and queues the events and mails about the pauses. */
export async function pauseWithNews(deps: PauseDeps, tx: Db, { unreadable, ended }: Stopped): Promise<void> {
  const paused = await pauseStopped(tx, { unreadable: [...unreadable.keys()], ended });
  await followPauses(deps, tx, paused, unreadable);
  await notifyPaused(tx, paused, unreadable);
}
