import type { Core } from '#core/core.ts';
import { markWebhookGone } from '#core/authoring/routines/index.ts';
import { type Database, sql, transaction, type Db } from '#lib/database/index.ts';
import { unanswered, type Exchange } from '#lib/outbound/index.ts';
import { claimAttempt, type ClaimedAttempt } from './claim.ts';
import {
  decideVerdict,
  MAX_ATTEMPTS,
  type DeliveryState,
  type DeliveryFailure,
  type AttemptVerdict,
} from './delivery.ts';
import { sendAttempt, type SendDeps } from './send.ts';

export interface AttemptDeps extends SendDeps, Pick<Core, 'database'> {}

/** The state of the delivery after the attempt; `not_due` when no attempt was made. */
export type AttemptOutcome = Exclude<DeliveryState, 'sending'> | 'not_due';

/**
 * Makes one attempt of a due delivery: claims it, sends, records. No transaction and no connection is held while
 * sending. Any response of the receiver, or none, is an outcome; a thrown error is a fault of this service. The lease
 * then ends, and a tick sends the event again under the same id.
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
  readonly verdict: AttemptVerdict;
}

async function perform(
  deps: AttemptDeps,
  attempt: ClaimedAttempt,
  signal: AbortSignal | undefined,
): Promise<Performed> {
  const { webhookUrl } = attempt;
  if (attempt.isArchived) return unsent('routine_archived', 'the routine was archived');
  if (webhookUrl === null) return unsent('webhook_removed', 'the routine has no webhook URL any more');
  // An attempt that crashed recorded no outcome, so attempts are counted here too.
  if (attempt.rung > MAX_ATTEMPTS) return unsent('retries_exhausted', 'all attempts are used up');
  const exchange = await sendAttempt(deps, { ...attempt, webhookUrl }, signal);
  return { exchange, verdict: decideVerdict(attempt.rung, exchange) };
}

function unsent(reason: DeliveryFailure, why: string): Performed {
  return { exchange: unanswered(`not sent: ${why}`, 0), verdict: { state: 'failed', reason } };
}

async function record(
  database: Database,
  attempt: ClaimedAttempt,
  exchange: Exchange,
  verdict: AttemptVerdict,
): Promise<AttemptOutcome> {
  if (exchange.status === 410 && (await recordGone(database, attempt, exchange))) return 'failed';
  if (await recordAttempt(database, attempt, exchange, verdict)) return verdict.state;
  // A redelivery was requested meanwhile, so this was the first attempt of a new schedule.
  const rung = await currentRung(database, attempt);
  if (rung === undefined) return verdict.state;
  const renewed = decideVerdict(rung, exchange);
  await recordAttempt(database, { ...attempt, rung }, exchange, renewed);
  return renewed.state;
}

/**
 * Records the outcome of an attempt and moves its delivery, in one statement. An attempt whose lease had ended, or
 * whose delivery a 410 stopped, is recorded too, but moves the delivery only if it succeeded.
 * @returns whether the delivery was moved
 */
export async function recordAttempt(
  db: Db,
  attempt: ClaimedAttempt,
  exchange: Exchange,
  verdict: AttemptVerdict,
): Promise<boolean> {
  const delayMs = verdict.state === 'pending' ? verdict.delayMs : null;
  const reason = verdict.state === 'failed' ? verdict.reason : null;
  const uncounted = verdict.state === 'pending' && !verdict.counts ? 1 : 0;
  const current =
    verdict.state === 'delivered'
      ? sql`state <> 'delivered'`
      : sql`
          state = 'sending' and attempt_count = ${attempt.index}
          and attempt_count - ladder_offset = ${attempt.rung}
        `;
  const settled = await db.run`
    with attempt as (
      update webhook_attempts set
        status = ${exchange.status}, error = ${exchange.error}, duration_ms = ${exchange.durationMs},
        -- Null if the content of the run was erased during the attempt.
        response_excerpt = (select ${exchange.responseExcerpt}::text from webhook_deliveries d
          where d.id = ${attempt.deliveryId} and d.body is not null)
      where delivery_id = ${attempt.deliveryId} and index = ${attempt.index}
    )
    update webhook_deliveries set
      state = ${verdict.state}, reason = ${reason},
      next_attempt_at = now() + ${delayMs}::float8 * interval '1 millisecond',
      claimed_until = null,
      finished_at = case when ${verdict.state}::text <> 'pending' then now() end,
      ladder_offset = ladder_offset + ${uncounted}
    where id = ${attempt.deliveryId} and ${current}
  `;
  return settled > 0;
}

async function currentRung(db: Db, attempt: ClaimedAttempt): Promise<number | undefined> {
  const found = await db.row<{ rung: number }>`
    select attempt_count - ladder_offset as rung from webhook_deliveries
    where id = ${attempt.deliveryId} and state = 'sending' and attempt_count = ${attempt.index}
  `;
  return found?.rung;
}

/**
 * Records a 410: marks the webhook as failed and gives up its open deliveries, unless the routine has a new URL.
 * @returns whether the webhook was marked
 */
async function recordGone(database: Database, attempt: ClaimedAttempt, exchange: Exchange): Promise<boolean> {
  return transaction(database, async (tx) => {
    if (!(await markWebhookGone(tx, attempt))) return false;
    await recordAttempt(tx, attempt, exchange, { state: 'failed', reason: 'gone' });
    // Deliveries being sent right now are given up too, unless their attempt succeeds.
    await tx.run`
      update webhook_deliveries set
        state = 'failed', reason = 'gone', next_attempt_at = null, finished_at = now()
      where routine_id = ${attempt.routineId} and state in ('pending', 'sending')
    `;
    return true;
  });
}
