import { keepPaymentsInStep, type Payment } from '#core/accounts/billing/index.ts';
import { queueLeadMails } from '#core/accounts/leads/index.ts';
import { queueResultDigests } from '#core/upkeep/digests/index.ts';
import { expireCalls } from '#core/models/calls/index.ts';
import { sweepModelConnections } from '#core/models/connections/index.ts';
import { proposals } from '#core/authoring/routines/index.ts';
import { queueSummaries } from '#core/delivery/notifications/index.ts';
import { adoptMessages } from '#core/foundation/outbox/index.ts';
import { workOff } from '#core/foundation/work/index.ts';
import { expireActions, startDueActions } from '#core/execution/actions/index.ts';
import { applyRetention, type RetentionDeps, type RetentionReport } from '#core/execution/retention/index.ts';
import { expireQueued, sweepOpenRuns } from '#core/execution/runs/index.ts';
import { releaseDue, type Admission, type AdmissionReport } from '#core/execution/admission/index.ts';
import { settleLostCalls } from '#core/execution/steps/index.ts';
import { startDueDeliveries } from '#core/delivery/webhooks/index.ts';
import type { Log } from '#lib/log.ts';
import type { TickPart } from '#lib/metrics/index.ts';
import { claimAll, NOTHING_CLAIMED, type ClaimDeps, type ClaimReport } from './claim.ts';
import { forgetExpired } from './housekeeping.ts';
import { kindsOf, type KindDeps } from './nudges.ts';
import { pauseOfDisabledProviders, reconcileNextTimes } from './reconcile.ts';

export type TickDeps = ClaimDeps &
  RetentionDeps &
  KindDeps & { readonly admission: Admission; readonly payment: Payment };

/** Time limit for starting deliveries in one tick. The next tick continues with the oldest delivery. */
const DELIVERIES_MS = 45_000;

/** Time limit for sending mails and pings in one tick. */
const MESSAGES_MS = 45_000;

/** Time limit for fetching catalogues and handing credentials back in one tick. */
const CATALOGUES_MS = 45_000;
const REVOCATIONS_MS = 45_000;

/** Time limit for retention in one tick. */
const RETENTION_MS = 45_000;

/**
 * The parts of a tick. The scheduler makes each part a separate activity, so that no part delays the schedule. Each
 * part stops between two units of work when `signal` aborts.
 */
export interface TickParts {
  /** Claims everything that is due; claimed runs are admitted in the background. */
  claim(signal: AbortSignal): Promise<ClaimReport>;
  /** Releases runs whose `runAt` has come, and starts as many as there is room for. */
  admission(): Promise<AdmissionReport>;
  /** Starts approved actions and due webhook deliveries. */
  deliveries(signal: AbortSignal): Promise<number>;
  /** Rejects actions without a decision in time, and skips runs that have waited too long. */
  expire(signal: AbortSignal): Promise<number>;
  /** Settles proposals, releases the reservations of lost calls, repeats lost cancellations and settles lost runs. */
  sweep(signal: AbortSignal): Promise<number>;
  /** Sends due mails and pings for at most `forMs`; the next tick continues. */
  messages(signal: AbortSignal, forMs?: number): Promise<number>;
  /** Asks the payment processor for changes whose events may have been lost. */
  payments(signal: AbortSignal): Promise<void>;
  /** Fetches stale catalogues of accounts. */
  catalogues(signal: AbortSignal): Promise<number>;
  /** Deletes expired rows. */
  housekeeping(signal: AbortSignal): Promise<void>;
  /**
   * Erases the content of runs and deletes runs when their days are over, for at most `forMs`; the next tick continues.
   */
  retention(signal: AbortSignal, forMs?: number): Promise<RetentionReport>;
}

/** Creates the parts of a tick; each reports its duration and failure to the metrics. */
export function createTickParts(deps: TickDeps): TickParts {
  const kinds = kindsOf(deps);
  const off = (name: string, signal: AbortSignal, forMs: number) => workOff(deps, kinds, name, { signal, forMs });
  return {
    claim: (signal) =>
      measured(deps, 'claim', async (attempt) => {
        await attempt('reconcile', () => reconcileNextTimes(deps), 0);
        const claimed = await attempt('claim', () => claimAll(deps, signal), NOTHING_CLAIMED);
        // Pause the routines after the claim: the claim records the occurrences that are skipped because the provider
        // is disabled.
        await attempt('rollback', () => pauseOfDisabledProviders(deps), 0);
        return claimed;
      }),
    admission: () =>
      measured(deps, 'admission', async () => {
        await releaseDue(deps.database);
        return deps.admission.admit();
      }),
    deliveries: (signal) =>
      measured(deps, 'deliveries', async (attempt) => {
        await attempt('actions', () => startDueActions(deps, signal), 0);
        return startDueDeliveries(deps, { signal, withinMs: DELIVERIES_MS });
      }),
    expire: (signal) =>
      measured(deps, 'expire', async (attempt) => {
        await attempt('actions', () => expireActions(deps, signal), undefined);
        return expireQueued(deps, signal);
      }),
    sweep: (signal) =>
      measured(deps, 'sweep', async (attempt) => {
        await attempt('proposals', () => proposals.settleProposals(deps), undefined);
        await settleLostCalls(deps, signal);
        return sweepOpenRuns(deps, signal);
      }),
    messages: (signal, forMs = MESSAGES_MS) =>
      measured(deps, 'messages', async (attempt) => {
        if (deps.leadsEmail !== undefined) await queueLeadMails(deps.database);
        await queueResultDigests(deps.database);
        await queueSummaries(deps.database);
        await adoptMessages(deps.database);
        const work = (name: string) => attempt(name, () => off(name, signal, forMs), 0);
        // Write messages before sending them, so that they go out in this tick. `WRITING` begins with the kinds that
        // are urgent for people.
        for (const name of WRITING) await work(name);
        // Channels are served at the same time, so that monitors that hang delay no mail.
        const sent = await Promise.all(['mail', 'operator_mail', 'ping', 'chat'].map(work));
        return sent.reduce((sum, each) => sum + each, 0);
      }),
    catalogues: (signal) =>
      measured(deps, 'catalogues', async () => {
        await sweepModelConnections(deps);
        return off('catalogue', signal, CATALOGUES_MS);
      }),
    payments: (signal) => measured(deps, 'payments', () => keepPaymentsInStep(deps, signal)),
    housekeeping: (signal) =>
      measured(deps, 'housekeeping', async () => {
        await forgetExpired(deps, signal);
        await expireCalls(deps.database);
        await sweepModelConnections(deps);
        await off('revocation', signal, REVOCATIONS_MS);
      }),
    retention: (signal, forMs = RETENTION_MS) =>
      measured(deps, 'retention', () => applyRetention(deps, { forMs, signal })),
  };
}

/** Kinds of due work that write messages. */
const WRITING = ['action_run', 'action_held', 'run_ended', 'spending', 'summary', 'digest', 'result', 'account'];

async function measured<T>(
  { metrics, log }: Pick<TickDeps, 'metrics' | 'log'>,
  part: TickPart,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  let failed = true;
  try {
    const result = await attemptParts(log, work);
    failed = false;
    return result;
  } finally {
    metrics.ticked({ part, seconds: (performance.now() - started) / 1_000, failed });
  }
}

/** Attempts one part of a tick. An error is logged, and `otherwise` returned. */
type Attempt = <T>(part: string, work: () => Promise<T>, otherwise: T) => Promise<T>;

/** Runs all parts, even after one of them has failed. @throws the first error of a part, at the end */
export async function attemptParts<T>(log: Log, work: (attempt: Attempt) => Promise<T>): Promise<T> {
  const faults: unknown[] = [];
  const result = await work(async (part, attempted, otherwise) => {
    try {
      return await attempted();
    } catch (err) {
      log.error({ err, part }, 'part of a tick failed');
      faults.push(err);
      return otherwise;
    }
  });
  if (faults.length > 0) throw faults[0];
  return result;
}
