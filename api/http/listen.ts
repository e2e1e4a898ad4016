import { createServer, type RequestListener } from 'node:http';
import { CLOSE_GRACE_MS, gracefulClose, HTTP_LIMITS, listenOn } from '#lib/listen.ts';
import { refuseMalformed } from '#lib/malformed.ts';
import { MAX_HEADERS } from '../middleware/strict-http.ts';

export interface RunningServer {
  readonly port: number;
  /** Takes no new request, lets those under way finish for up to 20 seconds, then cuts them off. */
  close(): Promise<void>;
}

/** Listens with limits, and refuses in the envelope what is no HTTP. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(
    {
      ...HTTP_LIMITS,
      // Refused by us, in the envelope, like every other request that is not well-formed.
      requireHostHeader: false,
    },
    handler,
  );
  // Beyond this Node drops headers without a word; the limit itself is lower and refuses.
  server.maxHeadersCount = 2 * MAX_HEADERS;
  // `100 Continue` is sent when the body is wanted, which is after authentication.
  server.on('checkContinue', handler);
  server.on('checkExpectation', handler);
  server.on('clientError', refuseMalformed({ 'X-Content-Type-Options': 'nosniff' }));
  const close = gracefulClose(server);
  return { port: await listenOn(server, { host, port }), close: () => close(CLOSE_GRACE_MS) };
}
