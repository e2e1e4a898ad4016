import type { Core } from '#core/core.ts';
import { markWebhookGone } from '#core/authoring/routines/index.ts';
import { type Database, sql, transaction, type Db } from '#lib/database/index.ts';
import { MAX_RETRY_AFTER_MS, unanswered, type Exchange } from '#lib/outbound/index.ts';
import type { DeliveryFailure, DeliveryState } from './delivery.ts';
import { sendAttempt, type ClaimedAttempt, type SendDeps } from './send.ts';

export interface AttemptDeps extends SendDeps, Pick<Core, 'database'> {}

/** The state of the delivery after the attempt; `not_due` when no attempt was made. */
export type AttemptOutcome = Exclude<DeliveryState, 'sending'> | 'not_due';

/**
 * Makes one attempt of a due delivery: claims it, sends, records. No transaction and no connection is held while
 * sending. Any response of the receiver, or none, is an outcome; a thrown error is a fault of this service. The lease
 * then ends, and a tick sends the event again under the same id.
 * @param options.after number of the caller's earlier attempt that broke off; this attempt takes over its lease
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

/**
 * How long an attempt holds its delivery: longer than the activity may take, so an expired lease means a lost worker.
 */
const SENDING_LEASE = sql`interval '60 seconds'`;

/**
 * Claims a delivery for one attempt and records it in one statement. If the process dies, the lease ends. All times are
 * the database's, because the clocks of workers may differ.
 * @param after number of the caller's earlier attempt that broke off; this attempt takes over its lease
 * @returns undefined when no attempt is due: the delivery waits, is being sent by another worker, is over, or unknown
 */
export function claimAttempt(db: Db, deliveryId: string, after?: number): Promise<ClaimedAttempt | undefined> {
  return db.row<ClaimedAttempt>`
    with claimed as (
      update webhook_deliveries set
        state = 'sending', attempt_count = attempt_count + 1, claimed_until = now() + ${SENDING_LEASE}
      where id = ${deliveryId} and (
        (state = 'pending' and next_attempt_at <= now()) or (state = 'sending' and (claimed_until <= now()
        or attempt_count = ${after ?? null}::integer))
      )
      returning *
    ), crashed as (
      update webhook_attempts a set error = ${CRASHED}
      from claimed
      where a.delivery_id = claimed.id and a.index = claimed.attempt_count - 1
        and a.status is null and a.error is null
    ), attempt as (
      insert into webhook_attempts (delivery_id, index, started_at)
      select id, attempt_count, now() from claimed
      returning started_at
    )
    select d.id as "deliveryId", d.project_id as "projectId", d.routine_id as "routineId", d.run_id as "runId",
      d.body, d.attempt_count as index, d.attempt_count - d.ladder_offset as rung,
      attempt.started_at as "startedAt", r.state = 'archived' as "isArchived",
      r.webhook_url as "webhookUrl", r.webhook_secret as "sealedSecret",
      case when r.webhook_secret_previous_until > now() then r.webhook_secret_previous end
        as "sealedPreviousSecret"
    from claimed d cross join attempt join routines r on r.id = d.routine_id
  `;
}

const CRASHED = 'the service broke off the delivery; whether the receiver got the event is unknown';

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
  if (webhookUrl === null) return unsent('webhook_removed', 'the routine no longer has a webhook URL');
  // An attempt that crashed recorded no outcome, so attempts are counted here too.
  if (attempt.rung > MAX_ATTEMPTS) return unsent('retries_exhausted', 'all attempts are used up');
  const exchange = await sendAttempt(deps, { ...attempt, webhookUrl }, signal);
  return { exchange, verdict: decideVerdict(attempt.rung, exchange) };
}

function unsent(reason: DeliveryFailure, why: string): Performed {
  return { exchange: unanswered(`not sent: ${why}`, 0), verdict: { state: 'failed', reason } };
}

type AttemptVerdict =
  | { readonly state: 'delivered' }
  | { readonly state: 'pending'; readonly delayMs: number; readonly counts: boolean }
  | { readonly state: 'failed'; readonly reason: DeliveryFailure };

/**
 * Decides the consequence of an attempt: only 2xx is success. `rung` is the attempt's place on the retry schedule, from
 * 1.
 */
function decideVerdict(rung: number, exchange: Exchange): AttemptVerdict {
  const { status, interrupted, retryAfterMs } = exchange;
  if (status !== null && status >= 200 && status <= 299) return { state: 'delivered' };
  if (interrupted) return { state: 'pending', delayMs: 0, counts: false };
  const delayMs = deliveryRetryMs(rung, retryAfterMs);
  return delayMs === undefined
    ? { state: 'failed', reason: 'retries_exhausted' }
    : { state: 'pending', delayMs, counts: true };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits between attempts. The first attempt comes at once, the last about three days later. */
export const RETRY_LADDER_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const MAX_ATTEMPTS = RETRY_LADDER_MS.length + 1;

/** Each wait varies by up to this fraction, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * Returns the wait after a failed attempt (1 is the first), at least as long as the receiver asked for.
 * @returns undefined after the last attempt
 */
export function deliveryRetryMs(
  attempt: number,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = RETRY_LADDER_MS[attempt - 1];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random());
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
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
