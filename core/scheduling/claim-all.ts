import { setTimeout as sleep } from 'node:timers/promises';
import { afterReplacing, type AfterEndDeps } from '#core/runs/index.ts';
import { isUnavailable } from '#lib/database/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import { claimDueRoutines, type Claimed, type ClaimDeps } from './claim.ts';
import { dueWithinSeconds } from './due-routines.ts';

/** Routines claimed in one transaction: enough to be cheap, and few enough to lock the rows only briefly. */
const CLAIM_BATCH = 500;

export interface ClaimAllDeps extends ClaimDeps, AfterEndDeps {}

export interface ClaimReport {
  readonly runs: number;
  readonly skipped: number;
}

export const NOTHING_CLAIMED: ClaimReport = { runs: 0, skipped: 0 };

/**
 * Claims everything that is due, and waits for what falls due within two seconds: a caller whose clock is ahead of the
 * database's would otherwise find nothing at the full minute.
 */
export async function claimAll(deps: ClaimAllDeps, signal: AbortSignal): Promise<ClaimReport> {
  const first = await claimBatches(deps, signal);
  const waitMs = await dueWithinSeconds(deps.database);
  if (waitMs === undefined) return first;
  await sleep(Math.max(Math.ceil(waitMs), 1), undefined, { signal });
  const second = await claimBatches(deps, signal);
  return { runs: first.runs + second.runs, skipped: first.skipped + second.skipped };
}

/** Routines whose claims may fail in one call; more of them are no fault of a row. */
const MOST_FAILURES = 20;

/**
 * Claims in batches. After a failure claims one by one until it has found the routine whose claim fails, and goes on
 * without it: it is the longest due, and would keep all others from their time.
 */
async function claimBatches(deps: ClaimAllDeps, signal: AbortSignal): Promise<ClaimReport> {
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
      if (isUnavailable(error) || tried.length === 0 || failing.length >= MOST_FAILURES)
        throw error;
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
    report(deps.metrics, claimed);
    await afterReplacing(deps, claimed.replaced);
    if (claimed.runs > 0) deps.admission.nudge();
    // A short batch may also mean that another tick has locked the rest and will finish it.
    if (claimed.more) continue;
    if (first !== undefined) throw first;
    return { runs, skipped };
  }
}

function report(metrics: Metrics, { lagSeconds, runs, skippedBy }: Claimed): void {
  if (lagSeconds !== undefined) metrics.claimed({ lagSeconds, runs, skipped: skippedBy });
}
