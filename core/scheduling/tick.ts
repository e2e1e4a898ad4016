import { setTimeout as sleep } from 'node:timers/promises';
import { sealPlainQueries, type ConnectionSecrets } from '#core/connections/index.ts';
import type { Engine } from '#core/engine/index.ts';
import { afterReplacing, expireQueued, type Admission } from '#core/runs/index.ts';
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
  readonly auditRetentionDays: number;
  readonly engine: Engine;
  readonly admission: Admission;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface TickReport {
  readonly runs: number;
  readonly skipped: number;
  readonly deliveries: number;
  readonly settled: number;
}

/** Routines claimed in one transaction: enough to be cheap, few enough to hold the rows briefly. */
const CLAIM_BATCH = 500;
const DELIVERY_BATCH = 200;

/** How long the deliveries of one tick may take to start; the next tick goes on with the oldest. */
const DELIVERIES_MS = 45_000;

/**
 * The parts of a tick. The scheduler makes each an activity of its own, so that none holds up the schedule. Each stops
 * between two pieces of its work when `signal` aborts, as whoever asked has given it up by then.
 */
export interface TickParts {
  /** Claims everything that is due; claimed runs are admitted in the background. */
  claim(signal: AbortSignal): Promise<Pick<TickReport, 'runs' | 'skipped'>>;
  /** Starts due webhook deliveries. */
  deliveries(signal: AbortSignal): Promise<number>;
  /** Skips runs that have waited too long. */
  expire(signal: AbortSignal): Promise<number>;
  /** Repeats lost cancellations and settles lost runs. */
  sweep(signal: AbortSignal): Promise<number>;
  /** Deletes what is no longer needed. */
  housekeeping(signal: AbortSignal): Promise<void>;
}

export function createTickParts(deps: TickDeps): TickParts {
  return {
    async claim(signal) {
      const started = performance.now();
      const faults: unknown[] = [];
      await attempt(deps, faults, 'reconcile', () => reconcileNextTimes(deps.database), 0);
      const claimed = await attempt(deps, faults, 'claim', () => claimAll(deps, signal), NOTHING);
      const seconds = (performance.now() - started) / 1_000;
      deps.metrics.ticked({ seconds, failed: faults.length > 0 });
      if (faults.length > 0) throw faults[0];
      return claimed;
    },
    deliveries: (signal) => startDueDeliveries(deps, signal),
    expire: () => expireQueued(deps),
    sweep: (signal) => sweepOpenRuns(deps, signal),
    async housekeeping() {
      await forgetExpired(deps.database, deps.auditRetentionDays);
      await sealPlainQueries(deps.database, deps.connectionSecrets);
    },
  };
}

const NOTHING = { runs: 0, skipped: 0 };

/**
 * Makes one tick: all parts in order. Ticks may overlap, in one process or many. Each part is attempted even when one
 * before it fails; the first error is thrown at the end.
 */
export async function tick(
  deps: TickDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<TickReport> {
  const parts = createTickParts(deps);
  const faults: unknown[] = [];
  const claimed = await attempt(deps, faults, 'claim', () => parts.claim(signal), NOTHING);
  const deliveries = await attempt(deps, faults, 'deliveries', () => parts.deliveries(signal), 0);
  await attempt(deps, faults, 'expire', () => parts.expire(signal), 0);
  const settled = await attempt(deps, faults, 'sweep', () => parts.sweep(signal), 0);
  await attempt(deps, faults, 'housekeeping', () => parts.housekeeping(signal), undefined);
  if (faults.length > 0) throw faults[0];
  return { ...claimed, deliveries, settled };
}

async function attempt<T>(
  { log }: Pick<TickDeps, 'log'>,
  faults: unknown[],
  part: string,
  work: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await work();
  } catch (err) {
    log.error({ err, part }, 'part of a tick failed');
    faults.push(err);
    return otherwise;
  }
}

/**
 * Claims everything that is due, and waits for what falls due within two seconds: a caller whose clock is ahead of the
 * database's would otherwise find nothing at the full minute.
 */
async function claimAll(
  deps: TickDeps,
  signal: AbortSignal,
): Promise<{ runs: number; skipped: number }> {
  const first = await claimBatches(deps, signal);
  const waitMs = await dueWithinSeconds(deps.database);
  if (waitMs === undefined) return first;
  await sleep(Math.max(Math.ceil(waitMs), 1), undefined, { signal });
  const second = await claimBatches(deps, signal);
  return { runs: first.runs + second.runs, skipped: first.skipped + second.skipped };
}

async function claimBatches(
  deps: TickDeps,
  signal: AbortSignal,
): Promise<{ runs: number; skipped: number }> {
  let runs = 0;
  let skipped = 0;
  for (;;) {
    signal.throwIfAborted();
    const claimed = await claimDueRoutines(deps, CLAIM_BATCH);
    runs += claimed.runs;
    skipped += claimed.skipped;
    report(deps.metrics, claimed);
    await afterReplacing(deps, claimed.replaced);
    for (const delivery of claimed.deliveries) {
      await kickDelivery(deps.engine, delivery, deps.log);
    }
    if (claimed.runs > 0) deps.admission.nudge();
    // A short batch may also mean that another tick has locked the rest and will finish it.
    if (!claimed.more) return { runs, skipped };
  }
}

function report(metrics: Metrics, { lagSeconds, runs, skippedBy }: Claimed): void {
  if (lagSeconds !== undefined) metrics.claimed({ lagSeconds, runs, skipped: skippedBy });
}

async function startDueDeliveries(
  { database, engine, log }: TickDeps,
  signal: AbortSignal,
): Promise<number> {
  const end = performance.now() + DELIVERIES_MS;
  let started = 0;
  for (;;) {
    signal.throwIfAborted();
    const due = await claimDueDeliveries(database, DELIVERY_BATCH);
    for (const delivery of due) {
      signal.throwIfAborted();
      // While Temporal is away each start would wait for its deadline. The leases run out and a later tick goes on.
      if (!(await kickDelivery(engine, delivery, log))) return started;
      started += 1;
    }
    // Claimed deliveries are leased, so no batch repeats an earlier one.
    if (due.length < DELIVERY_BATCH || performance.now() > end) return started;
  }
}
