import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { superviseChildren } from '#dev/stack/children.ts';
import { freePort } from '#dev/stack/ports.ts';
import { startPostgres } from '#dev/stack/postgres.ts';
import { ensureTemporalBinary } from '#dev/stack/temporal/binary.ts';
import { startTemporal } from '#dev/stack/temporal/server.ts';
import { migrate } from '#migrations/migrate.ts';
import { buildSession } from '#runtime/build.ts';
import { CACHE as SESSION_CACHE } from '#runtime/sandbox/session-script.ts';
import { keepServers, keptServers } from './kept-servers.ts';
import { startPooler } from './pooler.ts';
import { workflowBundle } from '#workers/workflow-bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's address of the server's maintenance database. */
    readonly postgresAdminUrl: string;
    /** The migrated database that is copied for each test file. */
    readonly templateDatabase: string;
    readonly temporalAddress: string;
    /** Port of a pooler in transaction mode before the server; null if the tests use none. */
    readonly poolerPort: number | null;
  }
}

interface Servers {
  readonly provided: Pick<ProvidedContext, 'postgresAdminUrl' | 'templateDatabase' | 'temporalAddress' | 'poolerPort'>;
  readonly stop: () => Promise<void>;
}

/** Each project loads this module separately, so the servers are kept in a global. */
const shared = globalThis as { serversOfTests?: Promise<Servers> };

/** Gives a project the servers of the test run, which the first project starts. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.serversOfTests ??= findServers(project.vitest.config.watch);
  const { provided, stop } = await shared.serversOfTests;
  for (const [name, value] of Object.entries(provided)) {
    project.provide(name as keyof typeof provided, value);
  }
  return stop;
}

/** Uses the servers of `npm run test:watch` while it runs, and otherwise starts new ones. */
async function findServers(isWatching: boolean): Promise<Servers> {
  // The code is bundled once here, so that files that start workers at the same time find the bundle.
  const bundles = Promise.all([workflowBundle(), buildSession(SESSION_CACHE)]);
  const { TEST_POSTGRES_BIN: postgres, TEST_TEMPORAL: temporal, TEST_POOLER: pooler } = process.env;
  const isUsual = (postgres ?? temporal ?? pooler) === undefined;
  const provided = isUsual && !isWatching ? keptServers() : undefined;
  const servers = provided === undefined ? await startServers() : { provided, stop: () => Promise.resolve() };
  await bundles;
  if (!isWatching) return servers;
  const takeBack = keepServers(servers.provided);
  return {
    ...servers,
    stop: () => {
      takeBack();
      return servers.stop();
    },
  };
}

const MEMORY = '/dev/shm';
/** Many times the space that the servers' data takes in a whole run. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** Returns a folder in memory, or else on disk. In memory, copying a database takes a fifth of the time. */
async function memoryOrDisk(): Promise<string> {
  const room = await statfs(MEMORY).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > ROOM_BYTES ? MEMORY : tmpdir();
}

/** Starts one Postgres and one Temporal server for all files of a test run. Both end with this process. */
async function startServers(): Promise<Servers> {
  const dataDir = await mkdtemp(path.join(await memoryOrDisk(), 'ras-test-'));
  const log = (message: string) => console.log(`  ${message}`);
  const children = await superviseChildren({ dataDir, log: () => undefined });
  const { spawn, guard } = children;
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= children.stopAll().then(() => rm(dataDir, { recursive: true, force: true }));
    return stopping;
  };
  // Take other versions than the usual ones if `dev/scripts/matrix` sets them.
  const { TEST_POSTGRES_BIN: bin, TEST_TEMPORAL: cli, TEST_POOLER: pooler } = process.env;
  const temporalBinary = cli === undefined ? ensureTemporalBinary : async () => ({ path: cli });
  try {
    const [postgres, temporal] = await Promise.all([
      startPostgres({
        dataDir: path.join(dataDir, 'postgres'),
        port: await freePort(),
        log: () => undefined,
        spawn,
        ...(bin && {
          binaries: { initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres') },
        }),
        // Change statistics only when a test says so, and not between two plans.
        settings: {
          fsync: 'off',
          synchronous_commit: 'off',
          full_page_writes: 'off',
          max_connections: '300',
          autovacuum: 'off',
        },
      }),
      temporalBinary({ env: process.env, onProgress: log, guard }).then(async ({ path: binary }) =>
        startTemporal({
          binary,
          dataDir: path.join(dataDir, 'temporal'),
          port: await freePort(),
          uiPort: null,
          log: () => undefined,
          spawn,
          // A pause of a tenth of a second would last for a second.
          dynamicConfig: { 'history.timerProcessorMaxTimeShift': 0 },
        }),
      ),
    ]);
    await migrate(postgres.url);
    const poolerPort = pooler === undefined ? null : await startPooler(postgres.adminUrl, { folder: dataDir, spawn });
    return {
      provided: {
        postgresAdminUrl: postgres.adminUrl,
        templateDatabase: new URL(postgres.url).pathname.slice(1),
        temporalAddress: temporal.address,
        poolerPort,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
