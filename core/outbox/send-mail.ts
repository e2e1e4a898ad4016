import type { Mailer } from '#lib/mail/index.ts';
import type { ClaimedMessage } from './claim.ts';
import { compose } from './compose.ts';
import type { Verdict } from './record.ts';
import { isBeyondLast, retryDelayMs } from './retry.ts';
import type { UnsubscribeLinks } from './unsubscribe-links.ts';

export interface MailDeps {
  /** Undefined where no mail server is configured. */
  readonly mailer: Mailer | undefined;
  readonly uiOrigin: string;
  readonly unsubscribeLinks: UnsubscribeLinks;
  /** Recipient of business enquiries; undefined keeps them in their table. */
  readonly leadsEmail: string | undefined;
}

/**
 * Makes one attempt to send a mail. @returns also whether the server is away, in which case no other mail needs to be
 * tried now
 */
export async function sendMail(
  deps: MailDeps,
  message: ClaimedMessage,
): Promise<{ verdict: Verdict; serverIsAway: boolean }> {
  const { mailer } = deps;
  if (mailer === undefined) return over({ state: 'failed', error: 'no mail server is configured' });
  const isForOperator = message.organizationId === '';
  const to = isForOperator ? (deps.leadsEmail ?? null) : message.address;
  if (to === null) {
    const error = 'the recipient is no longer a member with a confirmed address';
    return over({ state: 'cancelled', error });
  }
  if (message.optedOut)
    return over({ state: 'cancelled', error: 'the recipient has unsubscribed' });
  if (isBeyondLast('mail', message.attempt)) {
    return over({ state: 'failed', error: 'all attempts were broken off on our side' });
  }
  const { uiOrigin, unsubscribeLinks: links } = deps;
  const fault = await mailer.attempt(compose(message, to, { uiOrigin, links }));
  if (fault === undefined) return over({ state: 'sent' });
  const error = fault.message;
  const delayMs = fault.kind === 'refused' ? undefined : retryDelayMs('mail', message.attempt);
  return {
    verdict:
      delayMs === undefined ? { state: 'failed', error } : { state: 'retry', error, delayMs },
    serverIsAway: fault.kind === 'away',
  };
}

function over(verdict: Verdict) {
  return { verdict, serverIsAway: false };
}
