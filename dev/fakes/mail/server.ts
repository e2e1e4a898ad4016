import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { withAsciiDomain } from '#lib/email-address.ts';
import { listenOn } from '#lib/listen.ts';
import { inbox } from './inbox.ts';
import { page } from './page.ts';

export interface MailCatcher {
  readonly smtpUrl: string;
  /** Address of the caught mails: a page at `/`, JSON at `/messages` (`?to=` filters them). */
  readonly url: string;
  /** Numbers of the next messages to refuse: `deferred` for now, as a greylist does, and `refused` for good. */
  readonly faults: { deferred: number; refused: number };
  stop(): Promise<void>;
}

/** Accepts every mail by SMTP, forwards none, and shows them on a page. */
export async function startMailCatcher(options: {
  smtpPort: number;
  httpPort: number;
  host?: string;
}): Promise<MailCatcher> {
  const { host = '127.0.0.1' } = options;
  const caught = inbox();
  const faults = { deferred: 0, refused: 0 };
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: 1024 * 1024,
    onRcptTo(_address, _session, callback) {
      callback(faultOf(faults));
    },
    onData(stream, session, callback) {
      // Give the addresses their original form again, because the library decodes international domains.
      const to = session.envelope.rcptTo.map(({ address }) => withAsciiDomain(address));
      // oxlint-disable-next-line promise/no-callback-in-promise -- the library takes callbacks only, and `keep` never throws
      void keep(to, stream).then(callback);
    },
  });

  /** Keeps a mail. @returns the error for the sender; null for an accepted mail */
  async function keep(to: readonly string[], stream: Readable): Promise<Error | null> {
    try {
      const { subject = '', text = '', html = '', headers } = await PostalMime.parse(await buffer(stream));
      const byName = Object.fromEntries(headers.map(({ key, value }) => [key, value]));
      caught.add({ to, subject, text, html, headers: byName });
      return null;
    } catch {
      return new Error('not a mail');
    }
  }

  // Ignore a client that leaves.
  smtp.on('error', () => undefined);
  const smtpPort = await new Promise<number>((resolve, reject) => {
    smtp.once('error', reject);
    const server = smtp.listen(options.smtpPort, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const isList = url.pathname === '/messages';
    if (request.method !== 'GET' || !(isList || url.pathname === '/')) {
      response.writeHead(404).end();
      return;
    }
    const messages = caught.list(url.searchParams.get('to') ?? undefined);
    const type = isList ? 'application/json' : 'text/html; charset=utf-8';
    response.writeHead(200, {
      'Content-Type': type,
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
    });
    response.end(isList ? JSON.stringify(messages) : page(messages));
  }

  const web = createServer(respond);
  const httpPort = await listenOn(web, { host, port: options.httpPort });
  return {
    smtpUrl: `smtp://${host}:${smtpPort}`,
    faults,
    url: `http://localhost:${httpPort}`,
    async stop() {
      web.closeAllConnections();
      await Promise.all([
        new Promise<void>((resolve) => web.close(() => resolve())),
        new Promise<void>((resolve) => smtp.close(resolve)),
      ]);
    },
  };
}

/** Uses up one of the remaining faults; null if no fault is left. */
function faultOf(faults: MailCatcher['faults']): Error | null {
  const name = (['deferred', 'refused'] as const).find((each) => faults[each] > 0);
  if (name === undefined) return null;
  faults[name] -= 1;
  const [responseCode, message] = name === 'deferred' ? [451, 'Greylisted, try again later'] : [550, 'No such mailbox'];
  return Object.assign(new Error(message), { responseCode });
}
