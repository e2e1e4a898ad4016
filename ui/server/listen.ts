import { createServer, type RequestListener, type Server } from 'node:http';
import { CLOSE_GRACE_MS, gracefulClose, HTTP_LIMITS, listenOn, refuseMalformed } from '../../lib/listen.ts';
import { constantHeaders } from './headers.ts';

export interface RunningServer {
  readonly port: number;
  readonly server: Server;
  /** Accepts no new request, gives running requests up to 20 seconds, then cuts them off. */
  close(): Promise<void>;
}

/** Listens with stricter limits than Node's. Responses that Node itself makes also have the constant headers. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  // Node would refuse a request without `Host`, but nothing here depends on that header.
  const server = createServer({ ...HTTP_LIMITS, requireHostHeader: false }, handler);
  server.on('checkExpectation', handler);
  server.on('clientError', refuseMalformed(constantHeaders()));
  const close = gracefulClose(server);
  return {
    port: await listenOn(server, { host, port }),
    server,
    close: () => close(CLOSE_GRACE_MS),
  };
}
