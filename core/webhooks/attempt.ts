import type { Database } from '#lib/database/index.ts';
import { claimAttempt, type ClaimedAttempt } from './claim.ts';
import type { DeliveryState, Exchange } from './delivery.ts';
import { currentRung, recordAttempt, recordGone } from './record.ts';
import { decideVerdict, MAX_ATTEMPTS, type Verdict } from './retry.ts';
import { sendAttempt, unanswered, type SendDeps } from './send.ts';

export interface AttemptDeps extends SendDeps {
  readonly database: Database;
}

/** The delivery's state after the attempt; `not_due` when there was none to make. */
export type AttemptOutcome = Exclude<DeliveryState, 'sending'> | 'not_due';

/**
 * Makes one attempt of a delivery that is due: claims it, sends, records. No transaction and no connection is held
 * while sending. Errors of the receiver are outcomes. An error that is thrown is our own: the lease runs out, and a tick
 * has the same event sent again under the same id.
 * @param options.after number of the caller's own attempt that broke off, whose lease it takes over
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  deliveryId: string,
  options: { readonly signal?: AbortSignal; readonly after?: number | undefined } = {},
): Promise<AttemptOutcome> {
  options.signal?.throwIfAborted();
  const attempt = await claimAttempt(deps.database, deliveryId, options.after);
  if (attempt === undefined) return 'not_due';
  const { exchange, verdict } = await perform(deps, attempt, options.signal);
  const outcome = await record(deps.database, attempt, exchange, verdict);
  deps.log.info(
    {
      deliveryId,
      runId: attempt.runId,
      projectId: attempt.projectId,
      attempt: attempt.index,
      status: exchange.status,
      durationMs: exchange.durationMs,
      outcome,
    },
    'webhook attempt',
  );
  return outcome;
}

interface Performed {
  readonly exchange: Exchange;
  readonly verdict: Verdict;
}

async function perform(
  deps: AttemptDeps,
  attempt: ClaimedAttempt,
  signal: AbortSignal | undefined,
): Promise<Performed> {
  const { webhookUrl } = attempt;
  if (webhookUrl === null) {
    return {
      exchange: unanswered('not sent: the routine has no webhook URL any more', 0),
      verdict: { state: 'failed', reason: 'webhook_removed' },
    };
  }
  // An attempt that crashes gets no verdict, so attempts are counted here too.
  if (attempt.rung > MAX_ATTEMPTS) {
    return {
      exchange: unanswered('not sent: all attempts are used up', 0),
      verdict: { state: 'failed', reason: 'retries_exhausted' },
    };
  }
  const exchange = await sendAttempt(deps, { ...attempt, webhookUrl }, signal);
  return { exchange, verdict: decideVerdict(attempt.rung, exchange) };
}

async function record(
  database: Database,
  attempt: ClaimedAttempt,
  exchange: Exchange,
  verdict: Verdict,
): Promise<AttemptOutcome> {
  if (exchange.status === 410 && (await recordGone(database, attempt, exchange))) return 'failed';
  if (await recordAttempt(database, attempt, exchange, verdict)) return verdict.state;
  // A redelivery was requested meanwhile, so this is now the first attempt of a new schedule.
  const rung = await currentRung(database, attempt);
  if (rung === undefined) return verdict.state;
  const renewed = decideVerdict(rung, exchange);
  await recordAttempt(database, { ...attempt, rung }, exchange, renewed);
  return renewed.state;
}
