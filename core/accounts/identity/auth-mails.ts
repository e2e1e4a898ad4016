import { throttle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { AccountMails } from '#core/foundation/outbox/index.ts';

/** Limits the mails that strangers can cause, by kind of mail and address. */
const MAILS: ThrottleRule = { name: 'mail', limit: 5, windowSeconds: 60 * 60 };

/** Lifetime of the links in mails about accounts. */
export const LINK_SECONDS = 60 * 60;
const DAY_SECONDS = 24 * LINK_SECONDS;

/** Mails about accounts. Each mail says its purpose, and what to do if the recipient did not ask for it. */
export interface AuthMails {
  verification(to: string, url: string): Promise<void>;
  passwordReset(to: string, token: string): Promise<void>;
  changeOfAddress(to: string, newEmail: string, url: string): Promise<void>;
  accountExists(to: string): Promise<void>;
  factorEvent(to: string, event: { subject: string; text: string }): Promise<void>;
}

/** @param options.uiOrigin origin of the dashboard, where people sign in */
export function createAuthMails(options: { db: Db; accountMails: AccountMails; uiOrigin: string }): AuthMails {
  const { db, accountMails, uiOrigin } = options;

  /**
   * Sends a mail unless the mailbox has had too many. The caller does not learn whether a mail was sent, because that
   * would show whether there is an account.
   */
  async function send(to: string, subject: string, button: string, lines: readonly string[]): Promise<void> {
    // Each kind of mail is counted separately, so that strangers cannot use up the mails that let the owner sign in.
    if ((await throttle(db, MAILS, `${subject} ${to}`)) !== undefined) return;
    await accountMails.queue(db, { to, subject, text: `${lines.join('\n\n')}\n`, button, seconds: LINK_SECONDS });
  }

  return {
    verification: (to, url) =>
      send(to, 'Confirm your e-mail address', 'Confirm the address', [
        'Confirm within an hour that this mailbox is yours:',
        leadingBack(url, uiOrigin),
        'If you did not ask for this, do nothing: without it no one can use an account with this address.',
      ]),
    passwordReset: (to, token) =>
      send(to, 'Choose a new password', 'Choose a password', [
        'Choose a new password within an hour:',
        // The token is in the fragment, because a fragment reaches no server's log.
        `${uiOrigin}/reset-password#${token}`,
        'If you did not ask for this, do nothing: your password stays as it is.',
      ]),
    changeOfAddress: (to, newEmail, url) =>
      send(to, 'Confirm the change of your e-mail address', 'Agree to the change', [
        `A person who is signed in to your account wants to change its address to ${newEmail}.`,
        'Agree within an hour; the new address is then asked to confirm too:',
        leadingBack(url, uiOrigin),
        'If it was not you, do nothing, and change your password.',
      ]),
    accountExists: (to) =>
      send(to, 'You already have an account', 'Sign in', [
        'A person, maybe you, tried to sign up with this e-mail address, which has an account already.',
        'Sign in, or choose a new password there:',
        `${uiOrigin}/sign-in`,
        'If it was not you, do nothing.',
      ]),
    // This mail is not limited: no stranger can cause it, and it must arrive.
    factorEvent: (to, { subject, text }) =>
      accountMails.queue(db, { to, subject, text: `${text}\n\n${NOT_YOU}\n`, seconds: DAY_SECONDS }),
  };
}

const NOT_YOU =
  'If it was not you, change your password, end the other sessions in your settings, and tell the people who run this service.';

/** Makes a link lead back to the dashboard. A bare path would lead to this API, which has no pages. */
function leadingBack(link: string, uiOrigin: string): string {
  const url = new URL(link);
  const to = url.searchParams.get('callbackURL') ?? '/';
  if (to.startsWith('/')) url.searchParams.set('callbackURL', `${uiOrigin}${to}`);
  return url.href;
}
