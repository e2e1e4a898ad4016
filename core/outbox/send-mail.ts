import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Core } from '#core/core.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';
import type { Mail } from '#lib/mail.ts';
import { isBeyondLast, messageRetryMs, type ClaimedMessage, type Verdict } from './attempts.ts';
import { isUnsubscribable, type MailContent } from './message.ts';

export interface MailDeps extends Pick<Core, 'leadsEmail' | 'mailer' | 'uiOrigin'> {
  readonly unsubscribeLinks: UnsubscribeLinks;
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
  const delayMs = fault.kind === 'refused' ? undefined : messageRetryMs('mail', message.attempt);
  return {
    verdict:
      delayMs === undefined ? { state: 'failed', error } : { state: 'retry', error, delayMs },
    serverIsAway: fault.kind === 'away',
  };
}

function over(verdict: Verdict) {
  return { verdict, serverIsAway: false };
}

/** Composes a message's mail: its text, the link to its page, and the links to unsubscribe. */
function compose(
  message: ClaimedMessage,
  to: string,
  { uiOrigin, links }: { uiOrigin: string; links: UnsubscribeLinks },
): Mail {
  const content: MailContent = message.content ?? { subject: '', lines: [] };
  const { subject, lines, path, replyTo } = content;
  const stop = unsubscribing(message, links);
  const paragraphs = [
    ...lines,
    ...(path === undefined ? [] : [`${uiOrigin}${path}`]),
    ...stop.lines,
  ];
  return {
    id: message.id,
    to,
    // A name that a user has chosen stays in its line.
    subject: subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' '),
    text: `${paragraphs.join('\n\n')}\n`,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(stop.url === undefined ? {} : { unsubscribeUrl: stop.url }),
  };
}

function unsubscribing(
  { kind, userId, projectId, routineId }: ClaimedMessage,
  links: UnsubscribeLinks,
): { lines: string[]; url?: string } {
  if (!isUnsubscribable(kind) || userId === null || projectId === null) return { lines: [] };
  const ofProject = links.of({ userId, scopeId: projectId });
  const lines = ['--', `No more mail about anything in this project: ${ofProject}`];
  if (routineId === null) return { lines, url: ofProject };
  const ofRoutine = links.of({ userId, scopeId: routineId });
  return {
    lines: ['--', `No more mail about this routine: ${ofRoutine}`, ...lines.slice(1)],
    url: ofRoutine,
  };
}

/** A person, and the routine or project about which they want no more mail. */
export interface OptOut {
  readonly userId: string;
  readonly scopeId: string;
}

export interface UnsubscribeLinks {
  /** Returns an address at which mails can be ended without a session. */
  of(optOut: OptOut): string;
  /** Reads the token at the end of such an address; undefined when it was not signed here. */
  read(token: string): OptOut | undefined;
}

export const UNSUBSCRIBE_PATH = '/public/unsubscribe/';

/**
 * Signs links with a key of their own, derived from the encryption key. A link is valid while the key that signed it is
 * the current or the previous one.
 */
export function createUnsubscribeLinks(options: {
  readonly publicUrl: string;
  readonly keys: readonly string[];
}): UnsubscribeLinks {
  const keys = options.keys.map((key) =>
    createHmac('sha256', Buffer.from(key, 'base64'))
      .update('unsubscribe links, version 1')
      .digest(),
  );
  const [newest] = keys;
  if (newest === undefined) throw new Error('no key to sign with');
  return {
    of(optOut) {
      const payload = Buffer.from(`${optOut.scopeId}:${optOut.userId}`).toString('base64url');
      const token = `${payload}.${signature(newest, payload).toString('base64url')}`;
      return `${options.publicUrl}${UNSUBSCRIBE_PATH}${token}`;
    },
    read(token) {
      const [, payload, mac] = /^([\w-]{1,400})\.([\w-]{43})$/.exec(token) ?? [];
      if (payload === undefined || mac === undefined) return undefined;
      const given = Buffer.from(mac, 'base64url');
      if (!keys.some((key) => timingSafeEqual(signature(key, payload), given))) return undefined;
      const text = Buffer.from(payload, 'base64url').toString();
      const colon = text.indexOf(':');
      return { scopeId: text.slice(0, colon), userId: text.slice(colon + 1) };
    },
  };
}

function signature(key: Buffer, payload: string): Buffer {
  return createHmac('sha256', key).update(payload).digest();
}

/** Sends the person no more mail about the scope. Does nothing when the person is gone. */
export async function optOut(db: Db, { userId, scopeId }: OptOut): Promise<void> {
  await execute(
    db,
    sql`
      insert into mail_optouts (user_id, scope_id) select id, ${scopeId} from users where id = ${userId}
      on conflict do nothing
    `,
  );
}

/** Takes an opt-out back. */
export async function optIn(db: Db, { userId, scopeId }: OptOut): Promise<void> {
  await execute(
    db,
    sql`delete from mail_optouts where user_id = ${userId} and scope_id = ${scopeId}`,
  );
}
