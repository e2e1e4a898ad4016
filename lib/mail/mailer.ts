import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { Log } from '#lib/log.ts';

/** A plain text message to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /**
   * Hands a message to the mail server, for which nobody waits: how long that takes would tell whether there was
   * anything to send. It is tried three times; a failure is logged, without the address and the text.
   */
  send(mail: Mail): void;
  /** Waits for what is under way, then closes the connections. */
  close(): Promise<void>;
}

/** Pauses before the second and the third attempt. */
const RETRY_DELAYS_MS = [1_000, 10_000];

/**
 * Opens the way to a mail server.
 * @param options.requireTls refuses a server that offers no encryption on a `smtp:` address
 */
export function openMailer(options: {
  url: string;
  from: string;
  requireTls: boolean;
  log: Log;
}): Mailer {
  const { from, log } = options;
  const { protocol, hostname, port, username, password } = new URL(options.url);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: options.requireTls,
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
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

  async function deliver({ to, subject, text }: Mail): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
        return;
      } catch (error) {
        const delay = RETRY_DELAYS_MS[attempt];
        if (delay === undefined || closing.signal.aborted || isRefusal(error)) {
          // The error repeats what the server said, which may name the address.
          log.error({ code: codeOf(error), attempts: attempt + 1 }, 'a mail could not be sent');
          return;
        }
        await sleep(delay, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  return {
    send(mail) {
      const delivery = deliver(mail).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async close() {
      closing.abort();
      await Promise.all(underWay);
      transport.close();
    },
  };
}

/** Tells whether the server has refused for good (RFC 5321, section 4.2.1): trying again would not help. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error &&
    'responseCode' in error &&
    typeof error.responseCode === 'number' &&
    error.responseCode >= 500
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
