import pg from 'pg';
import { expect, inject } from 'vitest';
import { rows, sql } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { marker, requestsWith } from '#test/tools/support.ts';

// Errors that pass by themselves, while a response that was paid for waits to be recorded.
const test = serviceTest({ worker: true, own: true });

/** Runs statements on the maintenance database, whose own defaults stay as they are. */
async function admin(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresAdminUrl') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Starts a run whose model has been asked and is held back. */
async function heldRun(service: Service, key: ApiClient) {
  const mark = marker();
  const id = await createRoutine(key, { instructions: mark });
  const release = service.gateway.control.hold({ marker: mark });
  const { data } = await key.post(`/v1/routines/${id}/run`);
  await expect.poll(() => requestsWith(service, mark)).toHaveLength(1);
  return { mark, id, runId: data.id as string, release };
}

const lockWaits = sql`select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

function nameOf({ databaseUrl }: Service): string {
  return new URL(databaseUrl).pathname.slice(1);
}

/** Ends all connections to the database, so that those made next have its new defaults. */
function reconnect(service: Service): string {
  return `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf(service)}'`;
}

test('a response whose primary has become read-only is recorded once it is written to again', async ({
  service,
  key,
}) => {
  const { mark, id, runId, release } = await heldRun(service, key);
  const name = nameOf(service);
  await admin(`alter database ${name} set default_transaction_read_only = on`, reconnect(service));
  release();
  await expect
    .poll(async () => (await key.post(`/v1/routines/${id}/run`)).status, { timeout: 20_000 })
    .toBe(503);
  await admin(`alter database ${name} reset default_transaction_read_only`);
  const run = await runEnded(key, runId);
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
  expect(requestsWith(service, mark)).toHaveLength(1);
});

test('a response whose run another transaction holds is recorded when that lets go', async ({
  service,
  key,
}) => {
  const { mark, runId, release } = await heldRun(service, key);
  const name = nameOf(service);
  await admin(`alter database ${name} set lock_timeout = '300ms'`, reconnect(service));
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from runs where id = $1 for update', [runId]);
    release();
    const waiting = async () => (await rows(service.deps.database, lockWaits)).length;
    // Twice, so that the first attempt has given up.
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    await expect.poll(waiting, { interval: 10, timeout: 20_000 }).toBe(0);
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    await holder.query('commit');
  } finally {
    await holder.end();
    await admin(`alter database ${name} reset lock_timeout`);
  }
  const run = await runEnded(key, runId);
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
  expect(requestsWith(service, mark)).toHaveLength(1);
});
