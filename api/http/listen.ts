import { createServer, type RequestListener } from 'node:http';

export interface RunningServer {
  readonly port: number;
  /** Takes no new request, lets those under way finish for up to 20 seconds, then cuts them off. */
  close(): Promise<void>;
}

const GRACE_MS = 20_000;

/** Listens with limits that Node leaves open: many headers, slow headers, slow bodies. */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<RunningServer> {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      // Longer than the usual idle timeout of a load balancer, so that it is never us who close first.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
    },
    handler,
  );
  server.maxHeadersCount = 100;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
