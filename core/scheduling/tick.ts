import { setTimeout as sleep } from 'node:timers/promises';
import { sealPlainQueries, type ConnectionSecrets } from '#core/connections/index.ts';
import { keepPaymentsInStep, type Payment } from '#core/billing/index.ts';
import type { Engine } from '#core/engine/index.ts';
import { queueLeadMails } from '#core/leads/index.ts';
import {
  expireCalls,
  refreshCatalogues,
  sweepModelConnections,
  type CatalogueDeps,
  type ModelHousekeepingDeps,
} from '#core/model-connections/index.ts';
import { queueDigests } from '#core/notifications/index.ts';
import { sendMessages, type MessageDeps } from '#core/outbox/index.ts';
import {
  afterReplacing,
  applyRetention,
  expireQueued,
  releaseDue,
  sweepOpenRuns,
  type Admission,
  type AdmissionReport,
  type RetentionDeps,
  type RetentionReport,
  type RunChanges,
} from '#core/runs/index.ts';
import { releaseExpired } from '#core/usage/index.ts';
import { kickDeliveries, startDueDeliveries } from '#core/webhooks/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics, TickPart } from '#lib/metrics/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { claimDueRoutines, type Claimed, type ClaimDeps } from './claim.ts';
import { dueWithinSeconds } from './due-routines.ts';
import { forgetExpired } from './housekeeping.ts';
import { reconcileNextTimes } from './reconcile.ts';
import { pauseOfDisabledProviders, type RollbackDeps } from './rollback.ts';

export interface TickDeps
  extends
    ClaimDeps,
    RetentionDeps,
    RollbackDeps,
    CatalogueDeps,
    ModelHousekeepingDeps,
    MessageDeps {
  readonly connectionSecrets: ConnectionSecrets;
  readonly outbound: OutboundClient;
  readonly auditRetentionDays: number;
  readonly engine: Engine;
  readonly payment: Payment;
  readonly admission: Admission;
  readonly runChanges: RunChanges;
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

/** Time in which one tick starts deliveries; the next tick goes on with the oldest. */
const DELIVERIES_MS = 45_000;

/** Time in which one tick sends mails and pings; less where its parts run in turn. */
const MESSAGES_MS = 45_000;
const MESSAGES_IN_TICK_MS = 10_000;

/** Time for retention in one tick; less where its parts run in turn. */
const RETENTION_MS = 45_000;
const RETENTION_IN_TICK_MS = 4_000;

/**
 * The parts of a tick. The scheduler makes each an activity of its own, so that none holds up the schedule. Each stops
 * between two pieces of its work when `signal` aborts, as whoever asked has given it up by then.
 */
export interface TickParts {
  /** Claims everything that is due; claimed runs are admitted in the background. */
  claim(signal: AbortSignal): Promise<Pick<TickReport, 'runs' | 'skipped'>>;
  /** Lets in runs whose time has come, and starts what waits and has room. */
  admission(): Promise<AdmissionReport>;
  /** Starts due webhook deliveries. */
  deliveries(signal: AbortSignal): Promise<number>;
  /** Skips runs that have waited too long. */
  expire(signal: AbortSignal): Promise<number>;
  /** Releases what lost calls have reserved, repeats lost cancellations and settles lost runs. */
  sweep(signal: AbortSignal): Promise<number>;
  /** Sends mails and pings that are due; the next tick goes on. */
  messages(signal: AbortSignal, forMs?: number): Promise<number>;
  /** Asks the payment processor about whatever its events should have brought. */
  payments(signal: AbortSignal): Promise<void>;
  /** Fetches the catalogues of accounts that are no longer fresh. */
  catalogues(signal: AbortSignal): Promise<number>;
  /** Deletes what is no longer needed. */
  housekeeping(signal: AbortSignal): Promise<void>;
  /** Erases the content of runs and deletes runs whose time is over; the next tick goes on. */
  retention(signal: AbortSignal, forMs?: number): Promise<RetentionReport>;
}

export function createTickParts(deps: TickDeps): TickParts {
  return {
    claim: (signal) =>
      measured(deps, 'claim', async () => {
        const faults: unknown[] = [];
        await attempt(deps, faults, 'reconcile', () => reconcileNextTimes(deps.database), 0);
        const claimed = await attempt(deps, faults, 'claim', () => claimAll(deps, signal), NOTHING);
        // After the claim, which puts what was due on record as passed over.
        await attempt(deps, faults, 'rollback', () => pauseOfDisabledProviders(deps), 0);
        // Any of them may have paused routines, which is news.
        await kickDeliveries(deps);
        if (faults.length > 0) throw faults[0];
        return claimed;
      }),
    admission: () =>
      measured(deps, 'admission', async () => {
        await releaseDue(deps.database);
        return deps.admission.admit();
      }),
    deliveries: (signal) =>
      measured(deps, 'deliveries', () =>
        startDueDeliveries(deps, { signal, withinMs: DELIVERIES_MS }),
      ),
    expire: (signal) => measured(deps, 'expire', () => expireQueued(deps, signal)),
    sweep: (signal) =>
      measured(deps, 'sweep', async () => {
        await releaseExpired(deps.database);
        return sweepOpenRuns(deps, signal);
      }),
    messages: (signal, forMs = MESSAGES_MS) =>
      measured(deps, 'messages', async () => {
        await queueDigests(deps.database, signal);
        if (deps.leadsEmail !== undefined) await queueLeadMails(deps.database);
        return sendMessages(deps, { signal, forMs });
      }),
    catalogues: (signal) => measured(deps, 'catalogues', () => refreshCatalogues(deps, signal)),
    payments: (signal) => measured(deps, 'payments', () => keepPaymentsInStep(deps, signal)),
    housekeeping: (signal) =>
      measured(deps, 'housekeeping', async () => {
        await forgetExpired(deps.database, deps.auditRetentionDays, signal);
        await expireCalls(deps.database);
        await sealPlainQueries(deps.database, deps.connectionSecrets, signal);
        await sweepModelConnections(deps);
      }),
    retention: (signal, forMs = RETENTION_MS) =>
      measured(deps, 'retention', () => applyRetention(deps, { forMs, signal })),
  };
}

/** Tells the metrics how long a part took and whether it failed. */
async function measured<T>(
  { metrics }: Pick<TickDeps, 'metrics'>,
  part: TickPart,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  let failed = true;
  try {
    const result = await work();
    failed = false;
    return result;
  } finally {
    metrics.ticked({ part, seconds: (performance.now() - started) / 1_000, failed });
  }
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
  await attempt(deps, faults, 'payments', () => parts.payments(signal), undefined);
  await attempt(deps, faults, 'messages', () => parts.messages(signal, MESSAGES_IN_TICK_MS), 0);
  await attempt(deps, faults, 'catalogues', () => parts.catalogues(signal), 0);
  await attempt(deps, faults, 'housekeeping', () => parts.housekeeping(signal), undefined);
  await attempt(
    deps,
    faults,
    'retention',
    () => parts.retention(signal, RETENTION_IN_TICK_MS),
    undefined,
  );
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
    if (claimed.runs > 0) deps.admission.nudge();
    // A short batch may also mean that another tick has locked the rest and will finish it.
    if (!claimed.more) return { runs, skipped };
  }
}

function report(metrics: Metrics, { lagSeconds, runs, skippedBy }: Claimed): void {
  if (lagSeconds !== undefined) metrics.claimed({ lagSeconds, runs, skipped: skippedBy });
}
