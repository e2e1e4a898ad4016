import { setTimeout as sleep } from 'node:timers/promises';
import { sealPlainQueries, type ConnectionSecrets } from '#core/connections/index.ts';
import type { RunEngine } from '#core/runs/index.ts';
import { claimDueDeliveries, kickDelivery } from '#core/webhooks/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import { claimDueRoutines, type Claimed, type ClaimDeps } from './claim.ts';
import { dueWithinSeconds } from './due-routines.ts';
import { forgetExpired } from './housekeeping.ts';
import { reconcileNextTimes } from './reconcile.ts';
import { sweepOpenRuns } from './sweep.ts';

export interface TickDeps extends ClaimDeps {
  readonly connectionSecrets: ConnectionSecrets;
  readonly engine: RunEngine;
  readonly log: Log;
  readonly metrics: Metrics;
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
export async function tick(deps: TickDeps): Promise<TickReport> {
  const started = performance.now();
  const faults: unknown[] = [];
  const attempt = async <T>(part: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (err) {
      deps.log.error({ err, part }, 'part of a tick failed');
      faults.push(err);
      return otherwise;
    }
  };
  await attempt('reconcile', () => reconcileNextTimes(deps.database), 0);
  const claimed = await attempt('claim', () => claimAll(deps), { runs: 0, skipped: 0 });
  const deliveries = await attempt('deliveries', () => startDueDeliveries(deps), 0);
  const settled = await attempt('sweep', () => sweepOpenRuns(deps), 0);
  await attempt('housekeeping', () => forgetExpired(deps.database), undefined);
  await attempt('addresses', () => sealPlainQueries(deps.database, deps.connectionSecrets), 0);
  const seconds = (performance.now() - started) / 1_000;
  deps.metrics.ticked({ seconds, failed: faults.length > 0 });
  if (faults.length > 0) throw faults[0];
  return { ...claimed, deliveries, settled };
}

/**
 * Claims everything that is due. Whoever called this tick may have a clock that is ahead of the database's; it would
 * find nothing at the full minute, so what falls due within two seconds is waited for.
 */
async function claimAll(deps: TickDeps): Promise<{ runs: number; skipped: number }> {
  const first = await claimBatches(deps);
  const waitMs = await dueWithinSeconds(deps.database);
  if (waitMs === undefined) return first;
  await sleep(Math.max(Math.ceil(waitMs), 1));
  const second = await claimBatches(deps);
  return { runs: first.runs + second.runs, skipped: first.skipped + second.skipped };
}

async function claimBatches(deps: TickDeps): Promise<{ runs: number; skipped: number }> {
  let runs = 0;
  let skipped = 0;
  for (;;) {
    const claimed = await claimDueRoutines(deps, CLAIM_BATCH);
    runs += claimed.runs;
    skipped += claimed.skipped;
    report(deps.metrics, claimed);
    // A short batch may also mean that another tick holds the rest; it will finish it.
    if (!claimed.more) return { runs, skipped };
  }
}

function report(metrics: Metrics, { lagSeconds, runs, skippedBy }: Claimed): void {
  if (lagSeconds !== undefined) metrics.claimed({ lagSeconds, runs, skipped: skippedBy });
}

async function startDueDeliveries({ database, engine, log }: TickDeps): Promise<number> {
  let started = 0;
  for (;;) {
    const due = await claimDueDeliveries(database, DELIVERY_BATCH);
    for (const delivery of due) {
      // While Temporal is away each start would wait for its deadline; the lease ends and a later tick does it.
      if (!(await kickDelivery(engine, delivery, log))) return started;
      started += 1;
    }
    // A delivery that is claimed is leased, so every batch is another one.
    if (due.length < DELIVERY_BATCH) return started;
  }
}
