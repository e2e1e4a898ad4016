import { createServer } from 'node:http';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Readiness of a worker, in the form that the probe reports. */
export interface Readiness {
  /** Obstacles to the work, in words; empty when the worker is ready. */
  readonly obstacles: readonly string[];
  readonly buildId: string | null;
  /** True when new runs start on the worker. A worker of an earlier build is ready too, to end its own runs. */
  readonly takesRuns: boolean;
}

/**
 * Serves the probes of an orchestrator: `GET /health` while the process lives, and `GET /ready`, which responds 503
 * while the worker cannot work. The probes have no authentication, so address and port must not be public.
 */
export async function serveHealth(
  readiness: () => Promise<Readiness>,
  { host, port }: { host: string; port: number },
): Promise<HealthServer> {
  let asked: Promise<Readiness> | undefined;
  // Probes that arrive during a check share its result.
  const look = () =>
    (asked ??= readiness().finally(() => {
      asked = undefined;
    }));

  const responses: Readonly<Record<string, () => Promise<[status: number, body: unknown]>>> = {
    '/health': async () => [200, { status: 'ok' }],
    async '/ready'() {
      const found = await look();
      const ready = found.obstacles.length === 0;
      return [ready ? 200 : 503, { ready, ...found }];
    },
  };
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url?.split('?')[0] ?? '';
    const respond = Object.hasOwn(responses, path) ? responses[path] : undefined;
    if (respond === undefined || request.method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    respond().then(
      ([status, body]) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`),
      () => response.writeHead(503).end(),
    );
  });
  const boundPort = await listenOn(server, { host, port });
  return { port: boundPort, close: () => closeAtOnce(server) };
}
