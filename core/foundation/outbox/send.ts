import type { Core } from '#core/core.ts';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import {
  claimMessages,
  isBeyondLast,
  messageRetryMs,
  recordSending,
  type ClaimedMessage,
  type Verdict,
} from './attempts.ts';
import type { Channel } from './message.ts';
import { sendMail, type MailDeps } from './send-mail.ts';

export type MessageDeps = MailDeps & Pick<Core, 'database' | 'log' | 'metrics' | 'outbound'>;

/** Messages sent at the same time: few enough to be sent well within their lease. */
const BATCH: Readonly<Record<Channel, number>> = { mail: 20, ping: 40 };

/**
 * Sends due messages for at most `forMs`; the next tick goes on. Mails and pings are sent independently, so that
 * monitors that hang delay no mail. A mail server that is away is not asked again in this tick.
 * @returns the number of attempted messages
 * @throws when Postgres cannot be reached, or the signal's reason
 */
export async function sendMessages(
  deps: MessageDeps,
  { signal, forMs }: { signal: AbortSignal; forMs: number },
): Promise<number> {
  const end = performance.now() + forMs;
  const sent = await Promise.allSettled([drain(deps, 'mail', { signal, end }), drain(deps, 'ping', { signal, end })]);
  let total = 0;
  for (const each of sent) {
    if (each.status === 'rejected') throw each.reason;
    total += each.value;
  }
  return total;
}

async function drain(
  deps: MessageDeps,
  channel: Channel,
  { signal, end }: { signal: AbortSignal; end: number },
): Promise<number> {
  let total = 0;
  // Where the operator has named no recipient, enquiries wait; they are not given up.
  const forOperator = deps.mailer !== undefined && deps.leadsEmail !== undefined;
  for (;;) {
    signal.throwIfAborted();
    const claimed = await claimMessages(deps.database, {
      channel,
      limit: BATCH[channel],
      forOperator,
    });
    const goOn = await Promise.all(claimed.map((message) => attempt(deps, channel, message, signal)));
    total += claimed.length;
    if (claimed.length < BATCH[channel] || goOn.includes(false) || performance.now() > end) {
      return total;
    }
  }
}

/** @returns true when others may be tried */
async function attempt(
  deps: MessageDeps,
  channel: Channel,
  message: ClaimedMessage,
  signal: AbortSignal,
): Promise<boolean> {
  const { verdict, serverIsAway } =
    channel === 'mail'
      ? await sendMail(deps, message)
      : { verdict: await sendPing(deps, message, signal), serverIsAway: false };
  // A ping that we broke off has no outcome: its lease runs out.
  if (channel === 'ping' && signal.aborted) return false;
  await recordSending(deps.database, message, verdict);
  deps.metrics.messageAttempt({ channel, outcome: verdict.state });
  const { id: messageId, kind, runId, projectId } = message;
  const entry = { messageId, kind, runId, projectId, attempt: message.attempt };
  deps.log.info({ ...entry, outcome: verdict.state }, 'message attempt');
  return !serverIsAway;
}

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16 * 1024;

/** Makes one GET to a monitor. Only 2xx is success; a redirect is not followed. */
async function sendPing(
  { outbound }: { readonly outbound: Pick<OutboundClient, 'request'> },
  message: ClaimedMessage,
  signal: AbortSignal,
): Promise<Verdict> {
  const { url, attempt } = message;
  if (url === null) return { state: 'failed', error: 'there is no address to ping' };
  if (isBeyondLast('ping', attempt)) {
    return { state: 'failed', error: 'all attempts were broken off on our side' };
  }
  const error = await ping(outbound, url, signal);
  if (error === undefined) return { state: 'sent' };
  const delayMs = messageRetryMs('ping', attempt);
  return delayMs === undefined ? { state: 'failed', error } : { state: 'retry', error, delayMs };
}

/** @returns the reason why it failed, if it did */
async function ping(
  outbound: Pick<OutboundClient, 'request'>,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { status } = await outbound.request({
      url,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      onOverflow: 'truncate',
      signal,
    });
    return status >= 200 && status <= 299 ? undefined : `the monitor responded with ${status}`;
  } catch (error) {
    if (error instanceof OutboundError) return error.message;
    throw error;
  }
}
