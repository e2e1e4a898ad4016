import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { claimMessages, type ClaimedMessage } from './claim.ts';
import type { Channel } from './message.ts';
import { recordAttempt } from './record.ts';
import { sendMail, type MailDeps } from './send-mail.ts';
import { sendPing } from './send-ping.ts';

export interface MessageDeps extends MailDeps {
  readonly database: Database;
  readonly outbound: Pick<OutboundClient, 'request'>;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'messageAttempt'>;
}

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
  const sent = await Promise.allSettled([
    drain(deps, 'mail', { signal, end }),
    drain(deps, 'ping', { signal, end }),
  ]);
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
  // Nobody to send an enquiry to is no reason to give it up.
  const forOperator = deps.mailer !== undefined && deps.leadsEmail !== undefined;
  for (;;) {
    signal.throwIfAborted();
    const claimed = await claimMessages(deps.database, {
      channel,
      limit: BATCH[channel],
      forOperator,
    });
    const goOn = await Promise.all(
      claimed.map((message) => attempt(deps, channel, message, signal)),
    );
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
  // A ping that was broken off on our side has said nothing: its lease runs out.
  if (channel === 'ping' && signal.aborted) return false;
  await recordAttempt(deps.database, message, verdict);
  deps.metrics.messageAttempt({ channel, outcome: verdict.state });
  const { id: messageId, kind, runId, projectId } = message;
  const entry = { messageId, kind, runId, projectId, attempt: message.attempt };
  deps.log.info({ ...entry, outcome: verdict.state }, 'message attempt');
  return !serverIsAway;
}
