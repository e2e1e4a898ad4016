import { createServer, type Server } from 'node:https';
import { gracefulClose, listenOn } from '#lib/listen.ts';
import { handleRequest, type ListenerDeps } from './listener.ts';

export interface RuntimeServer {
  readonly port: number;
  /** Takes no more connections; resolves when those that are open have ended. */
  close(): Promise<void>;
  /** Cuts the connections that are left, which may be some that never asked anything. */
  cut(): void;
}

const MAX_CONNECTIONS = 32;

/** Serves TLS 1.3 and HTTP/1.1, nothing older and nothing newer. */
export async function listen(
  deps: ListenerDeps,
  tls: { readonly cert: string; readonly key: string },
  address: { readonly host: string; readonly port: number },
): Promise<RuntimeServer> {
  const server: Server = createServer(
    {
      ...tls,
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: 10_000,
      maxHeaderSize: 8_192,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 60_000,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => {
      handleRequest(request, response, deps).catch((error: unknown) => {
        deps.log.error({ err: error }, 'a request failed');
        response.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  const close = gracefulClose(server);
  return {
    port: await listenOn(server, address),
    close: () => close(),
    cut: () => server.closeAllConnections(),
  };
}
