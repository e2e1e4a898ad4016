import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Child } from '#dev/stack/child.ts';
import { superviseChildren } from '#dev/stack/children.ts';
import { withoutSettings } from '#dev/stack/environment.ts';
import { freePort, isListening } from '#dev/stack/ports.ts';
import { startPostgres } from '#dev/stack/postgres.ts';
import { ensureTemporalBinary } from '#dev/stack/temporal/binary.ts';
import { startTemporal, type Temporal } from '#dev/stack/temporal/server.ts';
import { migrate } from '#migrations/migrate.ts';
import { startPooler } from '#test/support/pooler.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Postgres, and the servers that a benchmark starts. All of them end with this process, even when it is killed. */
export interface Stack {
  /** Creates a migrated database and returns its address. */
  readonly createDatabase: () => Promise<string>;
  /** Starts a Temporal server with an empty history. */
  readonly startTemporal: () => Promise<Temporal>;
  /** Base address of the fixture gateway, which all benchmarks share. */
  readonly gatewayUrl: string;
  /** Runs one of our files as a process of its own; `env` overrides our environment. */
  readonly run: (name: string, file: string, env: Readonly<Record<string, string>>) => Promise<Child>;
  /** Sets how the gateway responds from now on; undefined restores its usual responses. */
  readonly scriptGateway: (behaviour: object | undefined) => Promise<void>;
  /** Starts pgbouncer in front of Postgres and returns its port. */
  readonly startPooler: () => Promise<number>;
  readonly folder: string;
  /** The postmaster; its sessions are its children. */
  readonly postgresPid: number;
  readonly stop: () => Promise<void>;
}

export async function startStack(log: (message: string) => void): Promise<Stack> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-bench-'));
  const children = await superviseChildren({
    dataDir: folder,
    log,
    onUnexpectedExit: (child) => log(`${child.name} ended by itself:\n${child.outputTail()}`),
  });
  const { spawn, guard } = children;
  const stop = async () => {
    await children.stopAll();
    await rm(folder, { recursive: true, force: true });
  };
  const run: Stack['run'] = (name, file, env) =>
    spawn({
      name,
      command: process.execPath,
      args: [file],
      cwd: ROOT,
      env: { ...withoutSettings(process.env), ...env },
      logFile: path.join(folder, `${name.toLowerCase().replaceAll(' ', '-')}.log`),
      stop: { graceMs: 20_000 },
    });
  try {
    const gatewayPort = await freePort();
    const [postgres, temporalBinary] = await Promise.all([
      startPostgres({
        dataDir: path.join(folder, 'postgres'),
        port: await freePort(),
        log,
        spawn,
        // Write durably, as in production. The limit of the WAL avoids a checkpoint every few seconds while a million
        // rows are loaded.
        settings: { max_wal_size: '4GB', shared_buffers: '512MB' },
      }),
      ensureTemporalBinary({ env: process.env, onProgress: log, guard }),
      run('Gateway', 'dev/fakes/gateway/main.ts', { GATEWAY_PORT: String(gatewayPort) }),
    ]);
    const template = 'bench_template';
    const admin = (statement: string) => query(postgres.adminUrl, statement);
    const urlOf = (database: string) => Object.assign(new URL(postgres.url), { pathname: database });
    await admin(`create database ${template}`);
    await migrate(urlOf(template).href);
    while (!(await isListening(gatewayPort))) await sleep(50);
    return {
      gatewayUrl: `http://127.0.0.1:${gatewayPort}/v1`,
      folder,
      postgresPid: postgres.pid,
      run,
      stop,
      async createDatabase() {
        const name = `bench_${randomBytes(6).toString('hex')}`;
        await admin(`create database ${name} template ${template}`);
        return urlOf(name).href;
      },
      startPooler: () => startPooler(postgres.adminUrl, { folder, spawn }),
      async scriptGateway(behaviour) {
        const action = behaviour === undefined ? 'reset' : 'script';
        const response = await fetch(`http://127.0.0.1:${gatewayPort}/_${action}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(behaviour ?? {}),
        });
        if (!response.ok) throw new Error(`the gateway responded with ${response.status}`);
      },
      startTemporal: async () =>
        startTemporal({
          binary: temporalBinary.path,
          dataDir: undefined,
          port: await freePort(),
          uiPort: null,
          log,
          spawn,
        }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
