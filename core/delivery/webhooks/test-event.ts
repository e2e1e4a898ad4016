import type { Core } from '#core/core.ts';
import { readRoutine, readWebhookSecret } from '#core/authoring/routines/index.ts';
import { throttle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { Exchange } from './delivery.ts';
import { TEST_EVENT } from './event.ts';
import { sendAttempt, type SendDeps } from './send.ts';

const TESTS: ThrottleRule = { name: 'webhook-test', limit: 10, windowSeconds: 60 };

/**
 * Sends a signed test event to the webhook of a routine, once. Nothing is kept of it, and a 410 stops no deliveries.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `webhook_not_configured`, `rate_limited`
 */
export async function sendTestEvent(
  deps: SendDeps & Pick<Core, 'database'>,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<Pick<Exchange, 'status' | 'error' | 'durationMs' | 'responseExcerpt'> & { readonly id: string }> {
  const { database } = deps;
  const { state, name, webhookUrl } = await readRoutine(database, projectId, id);
  if (state === 'archived') throw new AppError('routine_archived');
  if (webhookUrl === null) throw new AppError('webhook_not_configured');
  const wait = await throttle(database, TESTS, id);
  if (wait !== undefined) {
    throw new AppError('rate_limited', 'Too many test events for this routine.', { 'Retry-After': String(wait) });
  }
  const startedAt = new Date();
  const body = JSON.stringify({ type: TEST_EVENT, timestamp: startedAt, data: { routineId: id, projectId, name } });
  const sealedSecret = (await readWebhookSecret(database, projectId, id)) ?? null;
  const deliveryId = newId('delivery');
  const event = { deliveryId, routineId: id, startedAt, body, sealedSecret, sealedPreviousSecret: null, webhookUrl };
  return { ...(await sendAttempt(deps, event, undefined)), id: deliveryId };
}
