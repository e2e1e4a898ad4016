import { randomBytes, scryptSync } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { inject } from 'vitest';
import { openAccounts } from '#api/accounts.ts';
import { createApp } from '#api/app.ts';
import type { Deps } from '#api/deps.ts';
import { listen } from '#api/http/listen.ts';
import { openServices } from '#core/services.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { loadConfig, type Config } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { installRuntime } from '#lib/temporal/index.ts';
import { createWorkers } from '#workers/worker.ts';
import { ApiClient } from './client.ts';
import { createTestDatabase } from './database.ts';

export interface Service {
  readonly url: string;
  readonly config: Config;
  readonly deps: Deps & Awaited<ReturnType<typeof openServices>>['deps'];
  readonly temporal: Awaited<ReturnType<typeof openServices>>['temporal'];
  /** The registry of metrics. */
  readonly registry: Awaited<ReturnType<typeof openServices>>['registry'];
  readonly databaseUrl: string;
  readonly gateway: Gateway;
  /** Client without credentials. */
  readonly anonymous: ApiClient;
  /** Starts another API process on the same database, with changes of the configuration. */
  replica(overrides?: Record<string, string>): Promise<{ url: string; close(): Promise<void> }>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  /** Starts a worker too, on a task queue of its own. By default none is started. */
  readonly worker?: boolean;
  /** True for a file that counts over the whole database. False by default. */
  readonly own?: boolean;
  /** True to hash passwords as in production. False by default, because such a hash takes as long as a test. */
  readonly slowPasswords?: boolean;
  /** Changes of the tests' configuration. */
  readonly env?: Record<string, string>;
}

/**
 * Starts the whole service in this process, on a new database: API on a free port, fixture gateway, workers if wanted.
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  installRuntimeOnce();
  const testDatabase = await createTestDatabase();
  const gateway = await startGateway({ port: 0, log: () => undefined });
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    UI_ORIGIN: url,
    DATABASE_URL: testDatabase.url,
    DATABASE_POOL_SIZE: '10',
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: `test-${randomBytes(6).toString('hex')}`,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
    SCHEDULER_SECRET: 'scheduler-secret-of-the-tests-0123456789',
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: 'test-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
    RATE_LIMIT_PER_MINUTE: '100000',
    MAX_ORGANIZATIONS_PER_PERSON: '1000',
    // The tests are the proxy, so that each person can have an address of their own.
    TRUSTED_PROXIES: '127.0.0.0/8,::1',
    ...options.env,
  };
  const config = loadConfig('api', environment);
  const log = createLog({ level: config.LOG_LEVEL, name: 'test' });
  const services = await openServices(config, log);
  const passwords = options.slowPasswords === true ? undefined : QUICK_PASSWORDS;
  const accounts = openAccounts(config, services.deps, log, passwords);
  const deps = { ...services.deps, ...accounts, config };
  const server = await listen(createApp(deps).callback(), { host: config.HOST, port });
  const workers = options.worker === true ? await startWorkers(config, services.deps) : undefined;
  return {
    url,
    config,
    deps,
    temporal: services.temporal,
    registry: services.registry,
    databaseUrl: testDatabase.url,
    gateway,
    anonymous: new ApiClient(url),
    replica: (overrides) => startReplica({ ...environment, ...overrides }),
    async close() {
      services.deps.runFeed.close();
      await server.close();
      await workers?.stop();
      await services.close();
      await gateway.stop();
      await testDatabase.drop();
    },
  };
}

const QUICK_PASSWORDS = {
  hash: async (password: string) => quickHash(password, randomBytes(16).toString('hex')),
  verify: async ({ hash, password }: { hash: string; password: string }) =>
    quickHash(password, hash.split(':')[0]!) === hash,
};

function quickHash(password: string, salt: string): string {
  return `${salt}:${scryptSync(password, salt, 64, { N: 2 }).toString('hex')}`;
}

const shared = new Map<string, Promise<Service>>();

/**
 * Returns the service that the files of this process share if their options are equal. It ends with the process. A file
 * uses people and projects of its own in this service. A file that counts over all projects, or stops parts, starts its
 * own service.
 */
export async function sharedService(options: Pick<ServiceOptions, 'worker' | 'env'> = {}): Promise<Service> {
  const key = JSON.stringify(options);
  const starting = shared.get(key) ?? startService(options);
  shared.set(key, starting);
  const service = await starting;
  // Remove the scripts that an earlier file may have left.
  service.gateway.control.reset();
  return service;
}

async function startReplica(environment: Record<string, string>) {
  const port = await freePort();
  const config = loadConfig('api', { ...environment, PORT: String(port) });
  const log = createLog({ level: 'silent', name: 'replica' });
  const services = await openServices(config, log);
  const accounts = openAccounts(config, services.deps, log, QUICK_PASSWORDS);
  const deps = { ...services.deps, ...accounts, config };
  const server = await listen(createApp(deps).callback(), { host: config.HOST, port });
  return {
    url: `http://localhost:${port}`,
    async close() {
      services.deps.runFeed.close();
      await server.close();
      await services.close();
    },
  };
}

let runtimeInstalled = false;

/** Installs the Temporal runtime, which a process has only once. Its log is not wanted here. */
export function installRuntimeOnce(): void {
  if (!runtimeInstalled) installRuntime(createLog({ level: 'silent', name: 'temporal' }));
  runtimeInstalled = true;
}

/** Steps that the workers of a service in a test make at a time. */
const WORKER_SLOTS = 20;

/** In production the first pause is two seconds, so that five attempts take half a minute. */
const FIRST_PAUSE_MS = 100;

/** Starts workers on the task queue of the configuration. Tests of several workers start more. */
export async function startWorkers(
  config: Config,
  deps: Awaited<ReturnType<typeof openServices>>['deps'],
  { concurrency = WORKER_SLOTS } = {},
): Promise<{ stop(): Promise<void> }> {
  const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  const workers = await createWorkers({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    concurrency,
    shutdownGraceSeconds: 1,
    deps: { firstPauseMs: FIRST_PAUSE_MS, ...deps },
  });
  const running = workers.run();
  return {
    async stop() {
      workers.shutdown();
      await running;
      await connection.close();
    },
  };
}
