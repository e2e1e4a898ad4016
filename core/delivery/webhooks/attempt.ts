import { createHmac } from 'node:crypto';
import type { Core } from '#core/core.ts';
import { markWebhookGone, type createSealedWebhookSecrets } from '#core/authoring/routines/index.ts';
import { type Database, sql, transaction, type Db } from '#lib/database/index.ts';
import { postJson, unanswered, type Exchange } from '#lib/outbound/index.ts';
import { deliveryRetryMs, MAX_ATTEMPTS, type DeliveryFailure, type DeliveryState } from './delivery.ts';

export interface AttemptDeps extends Pick<Core, 'database' | 'log' | 'outbound'> {
  readonly webhookSecrets: ReturnType<typeof createSealedWebhookSecrets>;
  /** Limit of the whole exchange, 20 seconds by default. It must stay well below the lease of an attempt. */
  readonly webhookTimeoutMs?: number;
}

/** The state of the delivery after the attempt; `not_due` when no attempt was made. */
export type AttemptOutcome = Exclude<DeliveryState, 'sending'> | 'not_due';

/**
 * Makes one attempt of a due delivery: claims the delivery, sends the event and records the outcome. No transaction and
 * no connection is held while sending. Any response of the receiver, or none, is an outcome; a thrown error is a fault
 * of this service. The lease then ends, and a tick sends the event again under the same id.
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
  const { runId, projectId, index } = attempt;
  const { status, durationMs } = exchange;
  deps.log.info({ deliveryId, runId, projectId, attempt: index, status, durationMs, outcome }, 'webhook attempt');
  return outcome;
}

/** An attempt at a delivery, leased to the caller. */
interface ClaimedAttempt {
  readonly deliveryId: string;
  readonly projectId: string;
  readonly routineId: string;
  /** Id of the run; null for an event that belongs to no run. */
  readonly runId: string | null;
  readonly body: string;
  /** Number of the attempt among all attempts of the delivery, from 1. */
  readonly index: number;
  /** Number of the attempt in the current retry schedule, from 1. */
  readonly rung: number;
  readonly startedAt: Date;
  /** True for a run that ended after its routine was archived. */
  readonly isArchived: boolean;
  /** The present webhook of the routine, which may have changed since the run ended. */
  readonly webhookUrl: string | null;
  readonly sealedSecret: string | null;
  /** The secret before the last rotation; null once it is no longer valid. */
  readonly sealedPreviousSecret: string | null;
}

/**
 * The time for which an attempt holds its delivery: longer than the activity may take, so that an expired lease means a
 * lost worker.
 */
const SENDING_LEASE = sql`interval '60 seconds'`;

/**
 * Claims a delivery for one attempt and records the attempt, in one statement. If the process dies, the lease ends. All
 * times are the database's, because the clocks of workers may differ.
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
  // Count attempts here too, because an attempt that crashed recorded no outcome.
  if (attempt.rung > MAX_ATTEMPTS) return unsent('retries_exhausted', 'all attempts are used up');
  const exchange = await sendAttempt(deps, { ...attempt, webhookUrl }, signal);
  return { exchange, verdict: decideVerdict(attempt.rung, exchange) };
}

function unsent(reason: DeliveryFailure, why: string): Performed {
  return { exchange: unanswered(`not sent: ${why}`, 0), verdict: { state: 'failed', reason } };
}

/** The fields of an attempt that are signed and sent. */
type Signed = Pick<
  ClaimedAttempt,
  'deliveryId' | 'routineId' | 'startedAt' | 'body' | 'sealedSecret' | 'sealedPreviousSecret'
>;

/** Time limit for reading the body of a response. The status proves the receipt; the body serves only the excerpt. */
const BODY_TIMEOUT_MS = 5_000;

/** Signs the event and sends it once. The response, or the lack of one, is an `Exchange`, never an error. */
export async function sendAttempt(
  deps: AttemptDeps,
  attempt: Signed & { readonly webhookUrl: string },
  signal: AbortSignal | undefined,
): Promise<Exchange> {
  const headers = sign(deps, attempt);
  if (headers === undefined) return unanswered('the event could not be signed', 0);
  const { webhookUrl: url, body } = attempt;
  const timing = { timeoutMs: deps.webhookTimeoutMs, cutBodyAfterMs: BODY_TIMEOUT_MS, signal };
  const { body: _, ...exchange } = await postJson(deps.outbound, { url, headers, body, ...timing });
  return exchange;
}

/** Signs the event; undefined while a secret cannot be opened, which lasts until an operator repairs the key. */
function sign(deps: AttemptDeps, attempt: Signed): Record<string, string> | undefined {
  const { deliveryId, routineId, startedAt, body, sealedSecret, sealedPreviousSecret } = attempt;
  try {
    const secrets = [sealedSecret, sealedPreviousSecret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => deps.webhookSecrets.open(routineId, sealed));
    if (secrets.length === 0) throw new Error('the routine has no webhook secret');
    return signedHeaders({ id: deliveryId, sentAt: startedAt, body }, secrets);
  } catch (err) {
    deps.log.error({ err, deliveryId, routineId }, 'a webhook event could not be signed');
    return undefined;
  }
}

interface WebhookMessage {
  /** Id of the delivery, the same for every attempt, so that a receiver recognizes a repetition. */
  readonly id: string;
  readonly sentAt: Date;
  readonly body: string;
}

/** Builds the headers of Standard Webhooks 1.0, with a signature for each secret, the newest first. */
export function signedHeaders(message: WebhookMessage, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(message.sentAt.getTime() / 1_000));
  const content = `${message.id}.${timestamp}.${message.body}`;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signature(secret, content)).join(' '),
  };
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
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

async function record(
  database: Database,
  attempt: ClaimedAttempt,
  exchange: Exchange,
  verdict: AttemptVerdict,
): Promise<AttemptOutcome> {
  if (exchange.status === 410 && (await recordGone(database, attempt, exchange))) return 'failed';
  if (await recordAttempt(database, attempt, exchange, verdict)) return verdict.state;
  // If a redelivery was requested meanwhile, this was the first attempt of a new schedule.
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
    // Give up deliveries that are being sent too, unless their attempt succeeds.
    await tx.run`
      update webhook_deliveries set
        state = 'failed', reason = 'gone', next_attempt_at = null, finished_at = now()
      where routine_id = ${attempt.routineId} and state in ('pending', 'sending')
    `;
    return true;
  });
}
