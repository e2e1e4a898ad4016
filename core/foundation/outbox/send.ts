import type { Core } from '#core/core.ts';
import type { Kinds, WorkOutcome, RequestKind } from '#core/foundation/work/index.ts';
import { OutboundError } from '#lib/outbound/index.ts';
import { accountMailKind } from './account-mails.ts';
import { findWaiting, recordSending, type WaitingMessage } from './waiting.ts';
import { sendMail, type MailDeps } from './send-mail.ts';

export type MessageDeps = MailDeps & Pick<Core, 'database' | 'outbound' | 'secrets'>;

const MINUTE_MS = 60_000;

/** Waits of almost a day, because a mail server may be away that long. */
const MAIL_WAITS_MS = [1, 5, 15, 60, 120, 240, 480, 720].map((minutes) => minutes * MINUTE_MS);
/** Short waits: a ping says that a run has just succeeded, so a late ping would mislead. */
const PING_WAITS_MS = [MINUTE_MS, 2 * MINUTE_MS];

/** The kinds of work that send messages. Enquiries wait while the operator has named no recipient. */
export function messageKinds(deps: MessageDeps): Kinds {
  const { mailer, leadsEmail } = deps;
  const mail = (to?: string): RequestKind => ({
    channel: 'mail',
    batch: 20,
    waitsMs: MAIL_WAITS_MS,
    attempt: ({ key }) => ifWaiting(deps, key, (message) => sendMail(deps, message, to ?? message.address)),
    ended: recordSending,
  });
  return {
    account: accountMailKind(deps),
    mail: mail(),
    operator_mail: mailer === undefined || leadsEmail === undefined ? undefined : mail(leadsEmail),
    ping: {
      channel: 'ping',
      batch: 40,
      waitsMs: PING_WAITS_MS,
      attempt: ({ key }, signal) => ifWaiting(deps, key, (message) => sendPing(deps, message, signal)),
      ended: recordSending,
    },
  };
}

async function ifWaiting(
  { database }: MessageDeps,
  id: string,
  send: (message: WaitingMessage) => Promise<WorkOutcome>,
): Promise<WorkOutcome> {
  const message = await findWaiting(database, id);
  return message === undefined ? { state: 'cancelled', error: 'the message is no longer wanted' } : send(message);
}

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16 * 1024;

/** Makes one GET to a monitor. Only 2xx is success; a redirect is not followed. */
async function sendPing(
  { outbound }: MessageDeps,
  { url }: WaitingMessage,
  signal: AbortSignal | undefined,
): Promise<WorkOutcome> {
  if (url === null) return { state: 'failed', error: 'there is no address to ping' };
  try {
    const { status } = await outbound.request({
      url,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      onOverflow: 'truncate',
      ...(signal && { signal }),
    });
    if (status >= 200 && status <= 299) return { state: 'done' };
    return { state: 'retry', error: `the monitor responded with ${status}` };
  } catch (error) {
    if (error instanceof OutboundError) return { state: 'retry', error: error.message };
    throw error;
  }
}
