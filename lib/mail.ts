import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { Log } from '#lib/log.ts';

/** A message to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as a page, for programs that show one. */
  readonly html?: string;
  /** Makes the Message-ID, which stays the same when the message is sent again. */
  readonly id?: string;
  readonly replyTo?: string;
  /** Takes a POST without a session that ends mails of this kind (RFC 8058). */
  readonly unsubscribeUrl?: string;
}

export interface Mailer {
  /**
   * Hands a message to the mail server, for which no caller waits: the time would show whether there was anything to
   * send. It is tried three times; a failure is logged, without the address and the text.
   */
  send(mail: Mail): void;
  /** Makes one attempt and waits for it. @returns why the server has not taken the message, or undefined if it has */
  attempt(mail: Mail): Promise<MailFault | undefined>;
  /** Waits for what is under way, then closes the connections. */
  close(): Promise<void>;
}

/** Pauses before the second and the third attempt. */
const RETRY_DELAYS_MS = [1_000, 10_000];

/**
 * Opens the way to a mail server.
 * @param options.requireTls refuses a server that offers no encryption on a `smtp:` address
 */
export function openMailer(options: { url: string; from: string; requireTls: boolean; log: Log }): Mailer {
  const { from, log } = options;
  const { protocol, hostname, port, username, password } = new URL(options.url);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: options.requireTls,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    pool: true,
    maxConnections: 3,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  async function attempt(mail: Mail): Promise<MailFault | undefined> {
    const { to, subject, text, html, id, replyTo } = mail;
    try {
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        ...(html === undefined ? {} : { html }),
        ...(id === undefined ? {} : { messageId: `<${id}@${domainOf(from)}>` }),
        ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
        headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(mail) },
      });
      return undefined;
    } catch (error) {
      return faultOf(error);
    }
  }

  async function deliver(mail: Mail): Promise<void> {
    for (let attempts = 1; ; attempts += 1) {
      const fault = await attempt(mail);
      if (fault === undefined) return;
      const delay = RETRY_DELAYS_MS[attempts - 1];
      if (delay === undefined || closing.signal.aborted || fault.kind === 'refused') {
        log.error({ code: fault.code, attempts }, 'a mail could not be sent');
        return;
      }
      await sleep(delay, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  return {
    send(mail) {
      const delivery = deliver(mail).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    attempt,
    async close() {
      closing.abort();
      await Promise.all(underWay);
      transport.close();
    },
  };
}

function unsubscribeHeaders({ unsubscribeUrl }: Mail): Record<string, string> {
  if (unsubscribeUrl === undefined) return {};
  return {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

/** Returns the domain of `Name <name@domain>`. */
function domainOf(from: string): string {
  return from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
}

/**
 * Fault of a mail server that has not accepted a message. `refused` is permanent; `away` means that no message would
 * get through now; `deferred` concerns this message and passes.
 */
interface MailFault {
  readonly kind: 'refused' | 'away' | 'deferred';
  readonly code: string;
  /** Message in the service's own words: what the server says may name the address. */
  readonly message: string;
}

/** Judges an error of nodemailer by its code and by the server's reply (RFC 5321, section 4.2.1). */
function faultOf(error: unknown): MailFault {
  const code = textOf(error, 'code') ?? 'unknown';
  const reply = replyOf(error);
  if (code === 'EAUTH') {
    return { kind: 'away', code, message: 'the mail server does not accept our credentials' };
  }
  if (reply === undefined) {
    return { kind: 'away', code, message: `the mail server could not be reached (${code})` };
  }
  return reply >= 500
    ? { kind: 'refused', code, message: `the mail server has refused the message (${reply})` }
    : { kind: 'deferred', code, message: `the mail server has put the message off (${reply})` };
}

function replyOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('responseCode' in error)) return undefined;
  return typeof error.responseCode === 'number' ? error.responseCode : undefined;
}

function textOf(error: unknown, key: 'code'): string | undefined {
  return error instanceof Error && key in error && typeof error[key] === 'string' ? error[key] : undefined;
}
