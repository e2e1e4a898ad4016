import { createServer } from 'node:http';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` in the Prometheus text format, without authentication, so on an address and port of its own
 * that must not be public. Also starts the measurements of the process itself: event loop, memory, garbage collection.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: { host: string; port: number },
): Promise<MetricsServer> {
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.split('?')[0] !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  const boundPort = await listenOn(server, { host, port });
  return { port: boundPort, close: () => closeAtOnce(server) };
}
