import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { superviseChildren } from '#dev/stack/children.ts';
import { freePort } from '#dev/stack/ports.ts';
import { startPostgres } from '#dev/stack/postgres.ts';
import type { Postgres } from '#dev/stack/postgres.ts';
import { identify, isRunning } from '#dev/stack/processes.ts';

import { firstLine } from './fixtures/first-line.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const OWNER = fileURLToPath(new URL('fixtures/postgres-owner.ts', import.meta.url));

let folder: string;
let dataDir: string;
let port: number;
let running: Postgres | undefined;

/** The tests use one cluster, in order, from its creation on. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ras-postgres-'));
  chmodSync(folder, 0o755);
  dataDir = join(folder, 'data');
  port = await freePort();
});

afterAll(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(settings: Record<string, string> = {}): Promise<Postgres> {
  running = await startPostgres({ dataDir, port, log: () => {}, settings });
  return running;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('the embedded Postgres', () => {
  it('starts on an empty folder, with the database, a private password and UTC', async () => {
    const { url, adminUrl } = await start({ fsync: 'off', synchronous_commit: 'off' });
    expect(new URL(url).pathname).toBe('/ras');
    expect(new URL(adminUrl).pathname).toBe('/postgres');
    const [row] = await query(
      url,
      `select current_database() as name, current_setting('timezone') as timezone,
              current_setting('fsync') as fsync, current_setting('listen_addresses') as listens`,
    );
    expect(row).toEqual({ name: 'ras', timezone: 'UTC', fsync: 'off', listens: '127.0.0.1' });
    expect(statSync(join(dataDir, 'password')).mode & 0o777).toBe(0o600);
    expect(new URL(url).password).toBe(readFileSync(join(dataDir, 'password'), 'utf8'));
    await query(url, 'create table kept (value text)');
    await query(url, `insert into kept values ('first')`);
  });

  it('refuses a connection without the password', async () => {
    const url = new URL(running!.url);
    url.password = 'wrong';
    await expect(query(url.href, 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('finds its data again after a stop', async () => {
    const { pid } = running!;
    await running!.stop();
    expect(identify(pid)).toBeUndefined();
    const { url } = await start();
    expect(await query(url, 'select value from kept')).toEqual([{ value: 'first' }]);
  });

  it('finds its data again after kill -9 of the server', async () => {
    await query(running!.url, `insert into kept values ('second')`);
    process.kill(running!.pid, 'SIGKILL');
    const { url } = await start();
    expect(await query(url, 'select value from kept order by 1')).toEqual([{ value: 'first' }, { value: 'second' }]);
    await running!.stop();
  });

  it.runIf(FULL_SIZE)('takes over from a server whose owner was killed', async () => {
    const owner = spawn(process.execPath, [OWNER, dataDir, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { pid, url } = z.object({ pid: z.int(), url: z.string() }).parse(JSON.parse(await firstLine(owner.stdout)));
    const orphan = identify(pid)!;
    await query(url, `insert into kept values ('third')`);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(isRunning(orphan)).toBe(true);

    const messages: string[] = [];
    running = await startPostgres({ dataDir, port, log: (message) => messages.push(message) });
    expect(isRunning(orphan)).toBe(false);
    expect(messages).toEqual([`Stopping the Postgres server that an earlier start left (process ${pid})`]);
    expect(await query(running.url, 'select count(*)::int as rows from kept')).toEqual([{ rows: 3 }]);
    await running.stop();
  });

  it('is not misled by a lock file whose pid belongs to another program now', async () => {
    const stranger = spawn('sleep', ['100']);
    await once(stranger, 'spawn');
    writeFileSync(join(dataDir, 'cluster', 'postmaster.pid'), `${stranger.pid}\n${dataDir}\n`);
    await start();
    expect(identify(stranger.pid!)).toBeDefined();
    stranger.kill('SIGKILL');
    await running!.stop();
  });

  it('says why it could not start: a used port, an unknown setting', async () => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await expect(start()).rejects.toThrow(/could not bind IPv4 address .* Address already in use/);
    server.close();
    await expect(start({ no_such_setting: '1' })).rejects.toThrow(
      'unrecognized configuration parameter "no_such_setting"',
    );
  });

  it('a failed start is reported once: to the caller, and not again as an unexpected end', async () => {
    const ended: string[] = [];
    const children = await superviseChildren({
      dataDir: folder,
      log: () => {},
      onUnexpectedExit: ({ name }) => ended.push(name),
    });
    const options = { dataDir, port, log: () => {}, spawn: children.spawn };
    await expect(startPostgres({ ...options, settings: { jit: 'what?' } })).rejects.toThrow('jit');
    expect(ended).toEqual([]);
    const postgres = await startPostgres(options);
    process.kill(postgres.pid, 'SIGKILL');
    await expect.poll(() => ended).toEqual(['Postgres']);
    await children.stopAll();
  });

  it.runIf(FULL_SIZE && process.getuid?.() === 0)(
    'runs for root inside a folder that is closed to everybody else',
    async () => {
      const closed = mkdtempSync(join(tmpdir(), 'ras-postgres-closed-'));
      const postgres = await startPostgres({
        dataDir: join(closed, 'data'),
        port: await freePort(),
        log: () => {},
      });
      expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      await postgres.stop();
      expect(statSync(closed).mode & 0o777).toBe(0o700);
      rmSync(closed, { recursive: true });
    },
  );
});
