import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { migrationFiles, migrationName } from '#lib/database/index.ts';
import { checkOut, type Checkout } from '#test/support/checkout.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { signUp } from '#test/support/people.ts';
import { startNode } from '#test/support/node-process.ts';

const ALL = (await migrationFiles()).map(migrationName);
/** Query for the columns of a migrated database. */
const COLUMNS = `
  select table_name, column_name, data_type, is_nullable, column_default
  from information_schema.columns where table_schema = 'public' order by 1, 2
`;

let whole: unknown[];
let slow: Checkout;

beforeAll(async () => {
  const migrated = await createTestDatabase();
  ({ rows: whole } = await migrated.database.query(COLUMNS));
  await migrated.drop();
  slow = await checkOut();
});
afterAll(() => slow.remove());

test('processes that migrate at the same time all end well, and one does the work', async () => {
  const { url, client } = await emptyDatabase();
  const processes = [1, 2, 3].map(() => migrations(url));
  expect(await Promise.all(processes.map(({ exited }) => exited))).toEqual([0, 0, 0]);
  const idle = processes.filter((each) => each.output().includes('nothing to migrate'));
  expect(idle).toHaveLength(2);
  expect(await applied(client)).toEqual(ALL);
  expect((await client.query(COLUMNS)).rows).toEqual(whole);
});

test('a process that is killed between or within migrations leaves a database that the next one completes', async () => {
  const { url, client } = await emptyDatabase();
  // The migration waits inside its transaction, after a change.
  const step = (wait: number) => `
    export async function up(knex) {
      await knex.raw('create table half_done (id int)');
      await knex.raw('select pg_sleep(${wait})');
    }
  `;
  const file = path.join(slow.folder, 'migrations/steps/0005_a_half.ts');
  await writeFile(file, step(3));
  const killed = migrations(url, slow.folder);
  const sleeping = async () => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'
        and pid <> pg_backend_pid()`,
    );
    return rowCount;
  };
  await expect.poll(sleeping, { interval: 50 }).toBe(1);
  await killed.end('SIGKILL');
  // A batch is recorded step by step, so the steps before the failed one remain.
  expect((await applied(client)).length).toBeLessThanOrEqual(5);
  await writeFile(file, step(0));
  const next = migrations(url, slow.folder);
  expect([await next.exited, next.output()]).toEqual([0, expect.stringContaining('0005_a_half')]);
  await client.query('drop table half_done');
  expect((await client.query(COLUMNS)).rows).toEqual(whole);
});

test('a migration gives way while a dump holds its table, so that others read on, and is made once it has ended', async () => {
  const testDatabase = await createTestDatabase();
  const { url } = testDatabase;
  const [dump, reader] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([dump.connect(), reader.connect()]);
  onTestFinished(async () => {
    await Promise.all([dump.end(), reader.end()]);
    await testDatabase.drop();
  });
  const steps = path.join(slow.folder, 'migrations/steps');
  const said = "create table said as select current_setting('lock_timeout') as lock_timeout";
  await writeFile(
    path.join(steps, '9997_apart.ts'),
    `export const config = { transaction: false };\nexport const up = (knex) => knex.raw(\`${said}\`);\n`,
  );
  await writeFile(
    path.join(steps, '9998_widen.ts'),
    "export const up = (knex) => knex.raw('alter table routines add column widened integer');\n",
  );
  await dump.query('begin');
  await dump.query('select from routines');
  const migrating = migrations(url, slow.folder);
  await migrating.until('another session holds a table that a migration changes');
  await reader.query('select from routines');
  await dump.query('commit');
  expect(await migrating.exited).toBe(0);
  expect(migrating.output()).toContain('9998_widen');
  await reader.query('select widened from routines');
  // An index that is built concurrently waits for old transactions without blocking others.
  expect((await reader.query('select lock_timeout from said')).rows).toEqual([{ lock_timeout: '0' }]);
});

test.runIf(FULL_SIZE)('an API that was started before the migrations lets people in once they are made', async () => {
  const { url } = await emptyDatabase();
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const api = startNode('api/server.ts', {
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: origin,
    UI_ORIGIN: origin,
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
  });
  onTestFinished(async () => void (await api.end('SIGKILL')));
  await api.until('listening');
  const ready = async () => (await fetch(`${origin}/ready`)).status;
  expect(await ready()).toBe(503);
  expect(await migrations(url).exited).toBe(0);
  await expect.poll(ready).toBe(200);
  const person = await signUp({ url: origin, config: { UI_ORIGIN: origin } });
  expect(person.projectId).toMatch(/^prj_/);
});

function migrations(url: string, cwd?: string) {
  const env = { NODE_ENV: 'test', DATABASE_URL: url };
  const process = startNode('migrations/run.ts', env, cwd === undefined ? {} : { cwd });
  onTestFinished(async () => void (await process.end('SIGKILL')));
  return process;
}

async function applied(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by id');
  return rows.map(({ name }) => name);
}

async function emptyDatabase() {
  const name = `empty_${randomBytes(8).toString('hex')}`;
  const admin = new pg.Client({ connectionString: inject('postgresAdminUrl') });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(inject('postgresAdminUrl'));
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return { url: url.href, client };
}
