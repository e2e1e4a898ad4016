import type { RunEngine } from '#core/runs/index.ts';
import { claimDueDeliveries, kickDelivery } from '#core/webhooks/index.ts';
import type { Log } from '#lib/log.ts';
import { claimDueRoutines, type ClaimDeps } from './claim.ts';
import { forgetExpired } from './housekeeping.ts';
import { reconcileNextTimes } from './reconcile.ts';
import { sweepOpenRuns } from './sweep.ts';

export interface TickDeps extends ClaimDeps {
  readonly engine: RunEngine;
  readonly log: Log;
}

export interface TickReport {
  readonly runs: number;
  readonly skipped: number;
  readonly deliveries: number;
  readonly settled: number;
}

/** Routines claimed in one transaction: large enough to be cheap, small enough to hold its rows briefly. */
const CLAIM_BATCH = 500;
const DELIVERY_BATCH = 200;

/**
 * One tick, without the starts of workflows (see `dispatchQueuedRuns`): claims everything that is due, starts due
 * webhook deliveries, settles lost runs. Ticks may overlap, in one process or many. Each part is attempted even
 * when one before it fails; the first fault is thrown at the end.
 */
export async function tick(deps: TickDeps, beat: () => void = () => undefined): Promise<TickReport> {
  const faults: unknown[] = [];
  const attempt = async <T>(part: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (err) {
      deps.log.error({ err, part }, 'part of a tick failed');
      faults.push(err);
      return otherwise;
    } finally {
      beat();
    }
  };
  await attempt('reconcile', () => reconcileNextTimes(deps.database), 0);
  const claimed = await attempt('claim', () => claimAll(deps, beat), { runs: 0, skipped: 0 });
  const deliveries = await attempt('deliveries', () => startDueDeliveries(deps), 0);
  const settled = await attempt('sweep', () => sweepOpenRuns(deps), 0);
  await attempt('housekeeping', () => forgetExpired(deps.database), undefined);
  if (faults.length > 0) throw faults[0];
  return { ...claimed, deliveries, settled };
}

async function claimAll(deps: TickDeps, beat: () => void) {
  let runs = 0;
  let skipped = 0;
  for (;;) {
    const claimed = await claimDueRoutines(deps, CLAIM_BATCH);
    runs += claimed.runs;
    skipped += claimed.skipped;
    beat();
    // A short batch may also mean that another tick holds the rest; it will finish it.
    if (!claimed.more) return { runs, skipped };
  }
}

async function startDueDeliveries({ database, engine, log }: TickDeps): Promise<number> {
  const due = await claimDueDeliveries(database, DELIVERY_BATCH);
  for (const delivery of due) await kickDelivery(engine, delivery, log);
  return due.length;
}
