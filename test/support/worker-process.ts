import { freePort } from '#dev/stack/ports.ts';
import { endScheduler, startNode, type NodeProcess, type StartOptions } from './node-process.ts';
import type { Service } from './service.ts';

export interface WorkerProcesses {
  /** Starts a real worker process with the service's database and servers, and waits until it works. */
  start(overrides?: Readonly<Record<string, string>>, options?: StartOptions): Promise<NodeProcess>;
  /** Starts a worker process without waiting, because it may never work. */
  launch(overrides?: Readonly<Record<string, string>>, options?: StartOptions): NodeProcess;
  /** Starts an API process beside the workers and waits until it listens. */
  api(
    overrides?: Readonly<Record<string, string>>,
    options?: StartOptions,
  ): Promise<NodeProcess & { readonly url: string }>;
  /** Runs an operator's command; returns its exit code and output. */
  command(entry: string, ...args: string[]): Promise<{ code: number | null; output: string }>;
  /** Sends the stop signal to all remaining processes, and waits until they have ended. */
  stop(): Promise<void>;
  /** Kills the processes, and ends the scheduler that they started. */
  close(): Promise<void>;
}

/** Starts worker processes of a service that was started without workers of its own. */
export function workerProcesses(service: Service): WorkerProcesses {
  const { config } = service;
  const running = new Set<NodeProcess>();
  const endAll = async (signal: NodeJS.Signals) => {
    await Promise.all([...running].map((worker) => worker.end(signal)));
    running.clear();
  };
  const environment = {
    NODE_ENV: 'test',
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
    TEMPORAL_TASK_QUEUE: config.TEMPORAL_TASK_QUEUE,
    ENCRYPTION_KEY: config.ENCRYPTION_KEY,
    GATEWAY_BASE_URL: config.GATEWAY_BASE_URL,
    GATEWAY_API_KEY: 'test-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
  };
  const launch: WorkerProcesses['launch'] = (overrides = {}, options = {}) => {
    const worker = startNode('workers/main.ts', { ...environment, ...overrides }, options);
    running.add(worker);
    return worker;
  };
  return {
    launch,
    async api(overrides = {}, options = {}) {
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const own = {
        LOG_LEVEL: 'info',
        HOST: '127.0.0.1',
        PORT: String(port),
        PUBLIC_URL: url,
        UI_ORIGIN: config.UI_ORIGIN,
        BETTER_AUTH_SECRET: config.BETTER_AUTH_SECRET,
        SCHEDULER_SECRET: config.SCHEDULER_SECRET ?? '',
        TRUSTED_PROXIES: '127.0.0.0/8,::1',
      };
      const api = startNode('api/server.ts', { ...environment, ...own, ...overrides }, options);
      running.add(api);
      await api.until('listening');
      return { ...api, url };
    },
    async command(entry, ...args) {
      const process = startNode(entry, environment, { args });
      const code = await process.exited;
      return { code, output: process.output() };
    },
    async start(overrides, options) {
      const worker = launch(overrides, options);
      await worker.until('worker started');
      return worker;
    },
    stop: () => endAll('SIGTERM'),
    async close() {
      await endAll('SIGKILL');
      await endScheduler(service.temporal, config.TEMPORAL_TASK_QUEUE);
    },
  };
}
