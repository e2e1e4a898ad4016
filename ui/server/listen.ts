import { createServer, type RequestListener, type Server } from 'node:http';
import { CLOSE_GRACE_MS, gracefulClose, HTTP_LIMITS, listenOn } from '../../lib/listen.ts';

export interface RunningServer {
  readonly port: number;
  readonly server: Server;
  /** Accepts no new request, lets running ones finish for up to 20 seconds, then cuts them off. */
  close(): Promise<void>;
}

/** Listens with limits that Node leaves open. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(HTTP_LIMITS, handler);
  const close = gracefulClose(server);
  return {
    port: await listenOn(server, { host, port }),
    server,
    close: () => close(CLOSE_GRACE_MS),
  };
}
