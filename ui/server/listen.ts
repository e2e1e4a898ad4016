import { createServer, type RequestListener, type Server } from 'node:http';
import { gracefulClose, listenOn } from '../../lib/listen.ts';

export interface RunningServer {
  readonly port: number;
  readonly server: Server;
  /** Accepts no new request, lets running ones finish for up to 20 seconds, then cuts them off. */
  close(): Promise<void>;
}

const GRACE_MS = 20_000;

/** Listens with limits that Node leaves open. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      // Longer than the usual idle timeout of a load balancer, so that we never close first.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
    },
    handler,
  );
  const close = gracefulClose(server);
  return {
    port: await listenOn(server, { host, port }),
    server,
    close: () => close(GRACE_MS),
  };
}
