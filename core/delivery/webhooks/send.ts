import type { Core } from '#core/core.ts';
import { createHmac } from 'node:crypto';
import type { createSealedWebhookSecrets } from '#core/authoring/routines/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { postJson, unanswered, type Exchange } from '#lib/outbound/index.ts';
import { TEST_EVENT } from './event.ts';

export interface SendDeps extends Pick<Core, 'log' | 'outbound'> {
  readonly webhookSecrets: ReturnType<typeof createSealedWebhookSecrets>;
  /** Limit of the whole exchange, 20 seconds by default. It must stay well below the lease of an attempt. */
  readonly webhookTimeoutMs?: number;
}

/** Time limit for reading the body of a response. The status proves the receipt; the body serves only the excerpt. */
const BODY_TIMEOUT_MS = 5_000;

/** An attempt at a delivery, leased to the caller. */
export interface ClaimedAttempt {
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

/** The fields of an attempt that are signed and sent. */
type Signed = Pick<
  ClaimedAttempt,
  'deliveryId' | 'routineId' | 'startedAt' | 'body' | 'sealedSecret' | 'sealedPreviousSecret'
>;

/** Signs the event and sends it once. The response, or the lack of one, is an `Exchange`, never an error. */
export async function sendAttempt(
  deps: SendDeps,
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

const TESTS: ThrottleRule = { name: 'webhook-test', limit: 10, windowSeconds: 60 };

/**
 * Sends a signed test event to the webhook of a routine, once. The test is not recorded, and a 410 stops no deliveries.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `webhook_not_configured`, `rate_limited`
 */
export async function sendTestEvent(
  deps: SendDeps & Pick<Core, 'database'>,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<Pick<Exchange, 'status' | 'error' | 'durationMs' | 'responseExcerpt'> & { readonly id: string }> {
  const { database } = deps;
  const routine = await database.row<{ state: string; name: string; webhookUrl: string | null; secret: string | null }>`
    select state, name, webhook_url as "webhookUrl", webhook_secret as secret from routines
    where id = ${id} and project_id = ${projectId}
  `;
  if (routine === undefined) throw new AppError('routine_not_found');
  const { state, name, webhookUrl, secret: sealedSecret } = routine;
  if (state === 'archived') throw new AppError('routine_archived');
  if (webhookUrl === null) throw new AppError('webhook_not_configured');
  await assertWithinLimit(database, TESTS, id, 'Too many test events for this routine.');
  const startedAt = new Date();
  const body = JSON.stringify({ type: TEST_EVENT, timestamp: startedAt, data: { routineId: id, projectId, name } });
  const deliveryId = newId('delivery');
  const event = { deliveryId, routineId: id, startedAt, body, sealedSecret, sealedPreviousSecret: null, webhookUrl };
  return { ...(await sendAttempt(deps, event, undefined)), id: deliveryId };
}

/** Signs the event; undefined when a secret cannot be opened, until an operator repairs the key. */
function sign(deps: SendDeps, attempt: Signed): Record<string, string> | undefined {
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
