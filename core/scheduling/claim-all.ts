import { setTimeout as sleep } from 'node:timers/promises';
import { afterReplacing, type AfterEndDeps } from '#core/runs/index.ts';
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

async function claimBatches(deps: ClaimAllDeps, signal: AbortSignal): Promise<ClaimReport> {
  let runs = 0;
  let skipped = 0;
  for (;;) {
    signal.throwIfAborted();
    const claimed = await claimDueRoutines(deps, CLAIM_BATCH);
    runs += claimed.runs;
    skipped += claimed.skipped;
    report(deps.metrics, claimed);
    await afterReplacing(deps, claimed.replaced);
    if (claimed.runs > 0) deps.admission.nudge();
    // A short batch may also mean that another tick has locked the rest and will finish it.
    if (!claimed.more) return { runs, skipped };
  }
}

function report(metrics: Metrics, { lagSeconds, runs, skippedBy }: Claimed): void {
  if (lagSeconds !== undefined) metrics.claimed({ lagSeconds, runs, skipped: skippedBy });
}
