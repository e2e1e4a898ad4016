import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child, SpawnChild } from '#dev/stack/child.ts';
import { superviseChildren } from '#dev/stack/children.ts';
import { withoutSettings } from '#dev/stack/environment.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { assertPortFree } from '#dev/stack/ports.ts';
import { startPostgres } from '#dev/stack/postgres.ts';
import { ensureTemporalBinary } from '#dev/stack/temporal/binary.ts';
import { startTemporal } from '#dev/stack/temporal/server.ts';
import { migrate } from '#migrations/migrate.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A process that can be killed: `api-1`, `worker-2`, `temporal`, `postgres`. */
export type Role = `api-${number}` | `worker-${number}` | 'temporal' | 'postgres';

/** A process that ended although the test did not kill or stop it. */
export interface Death {
  readonly role: Role;
  readonly lastWords: string;
}

/** The whole service in processes of its own, each of which may be killed and started again. */
export interface Cluster {
  readonly roles: readonly Role[];
  /** Base addresses of the API processes. */
  readonly apiUrls: readonly string[];
  readonly uiOrigin: string;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly schedulerSecret: string;
  /** The gateway, which runs in this process and never dies. */
  readonly gateway: Gateway;
  readonly deaths: readonly Death[];
  /** `kill -9`; resolves when the process is gone. */
  kill(role: Role): Promise<void>;
  /** Resolves when Postgres, Temporal or an API responds; a worker is only spawned. */
  start(role: Role): Promise<void>;
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly apis: number;
  readonly workers: number;
  /** Environment of the API and worker processes, over the defaults. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Time for which a process that ended by itself stays down, as under any process manager. */
const RESTART_MS = 500;

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-faults-'));
  const supervisor = await superviseChildren({ dataDir: folder, log: () => undefined });
  const gateway = await startGateway({ port: 0, log: () => undefined });
  const children = new Map<Role, Child>();
  const wanted = new Set<Role>();
  const deaths: Death[] = [];
  let closing = false;

  const apiRoles = numbered('api', options.apis);
  const workerRoles = numbered('worker', options.workers);
  const close = async () => {
    closing = true;
    await supervisor.stopAll();
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  };

  const spawnAs =
    (role: Role): SpawnChild =>
    async (settings) => {
      const child = await supervisor.spawn(settings);
      children.set(role, child);
      return child;
    };

  try {
    const { path: binary } = await ensureTemporalBinary({
      env: process.env,
      onProgress: console.log,
      guard: supervisor.guard,
    });
    const ports = {
      postgres: await quietPort(),
      temporal: await quietPort(),
      apis: await Promise.all(apiRoles.map(() => quietPort())),
    };
    const quiet = () => undefined;
    const launchPostgres = () =>
      startPostgres({
        dataDir: path.join(folder, 'postgres'),
        port: ports.postgres,
        log: quiet,
        spawn: spawnAs('postgres'),
      });
    const launchTemporal = () =>
      startTemporal({
        binary,
        dataDir: path.join(folder, 'temporal'),
        port: ports.temporal,
        uiPort: null,
        log: quiet,
        spawn: spawnAs('temporal'),
      });
    const [postgres] = await Promise.all([launchPostgres(), launchTemporal()]);
    await migrate(postgres.url);

    const apiUrls = ports.apis.map((port) => `http://127.0.0.1:${port}`);
    const environment = {
      ...withoutSettings(process.env),
      NODE_ENV: 'test',
      LOG_LEVEL: 'warn',
      HOST: '127.0.0.1',
      PUBLIC_URL: apiUrls[0]!,
      UI_ORIGIN: apiUrls[0]!,
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
      SCHEDULER_SECRET: randomBytes(32).toString('base64'),
      GATEWAY_BASE_URL: gateway.url,
      GATEWAY_API_KEY: 'test-gateway-key',
      ALLOW_PRIVATE_NETWORK: 'true',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ...options.env,
    };

    const launchOwn = async (role: Role, file: string, port?: number) => {
      wanted.add(role);
      const child = await spawnAs(role)({
        name: role,
        command: process.execPath,
        args: [file],
        cwd: ROOT,
        env: { ...environment, ...(port === undefined ? {} : { PORT: String(port) }) },
        logFile: path.join(folder, `${role}.log`),
        stop: { graceMs: 5_000 },
      });
      const keepUp = async () => {
        await child.exited;
        if (closing || !wanted.has(role)) return;
        deaths.push({ role, lastWords: child.outputTail() });
        await sleep(RESTART_MS);
        if (!closing && wanted.has(role)) await launchOwn(role, file, port);
      };
      void keepUp();
    };

    const cluster: Cluster = {
      roles: [...apiRoles, ...workerRoles, 'temporal', 'postgres'],
      apiUrls,
      uiOrigin: apiUrls[0]!,
      databaseUrl: postgres.url,
      temporalAddress: environment.TEMPORAL_ADDRESS,
      schedulerSecret: environment.SCHEDULER_SECRET,
      gateway,
      deaths,
      async kill(role) {
        wanted.delete(role);
        const child = children.get(role);
        if (child === undefined) return;
        if (child.exit() === undefined) process.kill(child.pid, 'SIGKILL');
        await child.exited;
      },
      async start(role) {
        if (role === 'postgres') await launchPostgres();
        else if (role === 'temporal') await launchTemporal();
        else if (workerRoles.includes(role)) await launchOwn(role, 'workers/main.ts');
        else {
          const index = apiRoles.indexOf(role);
          await launchOwn(role, 'api/server.ts', ports.apis[index]);
          await answers(`${apiUrls[index]}/health`);
        }
      },
      close,
    };
    await Promise.all([...apiRoles, ...workerRoles].map((role) => cluster.start(role)));
    return cluster;
  } catch (error) {
    await close();
    throw error;
  }
}

function numbered(name: 'api' | 'worker', count: number): Role[] {
  return Array.from({ length: count }, (_, index): Role => `${name}-${index + 1}`);
}

/** Returns a port outside the range of outgoing connections, so that it stays free while its owner is down. */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const taken = await assertPortFree(port, '').then(
      () => false,
      () => true,
    );
    if (!taken) return port;
  }
}

async function answers(url: string): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;) {
    const status = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => {
        await response.body?.cancel();
        return response.status;
      },
      () => undefined,
    );
    if (status === 200) return;
    if (Date.now() > end) throw new Error(`${url} does not answer`);
    await sleep(50);
  }
}
