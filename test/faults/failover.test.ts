import pg from 'pg';
import { expect, inject } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { sql } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { marker, requestsWith, routineWith, scriptCalls, toolSteps } from '#test/core/integrations/tools/support.ts';

// Temporary errors that happen while a paid response waits to be stored.
const test = serviceTest({ worker: true, own: true });

/** Runs statements on the maintenance database, whose own defaults do not change. */
async function admin(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresAdminUrl') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Starts a run whose model has been asked and does not respond yet. */
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

/** Ends all connections to the database, so that new ones get its new defaults. */
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
  await expect.poll(async () => (await key.post(`/v1/routines/${id}/run`)).status).toBe(503);
  await admin(`alter database ${name} reset default_transaction_read_only`);
  const run = await runEnded(key, runId);
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
  expect(requestsWith(service, mark)).toHaveLength(1);
});

test('a response whose run another transaction holds is recorded when that lets go', async ({ service, key }) => {
  const { mark, runId, release } = await heldRun(service, key);
  const name = nameOf(service);
  await admin(`alter database ${name} set lock_timeout = '300ms'`, reconnect(service));
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from runs where id = $1 for update', [runId]);
    release();
    const waiting = async () => (await service.deps.database.rows`${lockWaits}`).length;
    // The second wait proves that the first attempt has given up.
    await expect.poll(waiting).toBe(1);
    await expect.poll(waiting, { interval: 10 }).toBe(0);
    await expect.poll(waiting).toBe(1);
    await holder.query('commit');
  } finally {
    await holder.end();
    await admin(`alter database ${name} reset lock_timeout`);
  }
  const run = await runEnded(key, runId);
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
  expect(requestsWith(service, mark)).toHaveLength(1);
});

/** Locks rows of the service in a transaction, as another of its processes would. */
async function holding(service: Service, lock: string, id: string) {
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query(lock, [id]);
  const waiting = async () => await service.deps.database.rows<{ pid: number }>`${lockWaits}`;
  return {
    holder,
    /** Waits until the service waits for the lock; returns the process of its connection. */
    async waiter(): Promise<number> {
      await expect.poll(waiting, { interval: 10 }).toHaveLength(1);
      return (await waiting())[0]!.pid;
    },
    /** Waits until another connection of the service waits in place of this one. */
    async otherThan(pid: number): Promise<void> {
      const pids = async () => (await waiting()).map((each) => each.pid === pid);
      await expect.poll(pids).toEqual([false]);
    },
    async letGo(): Promise<void> {
      await holder.query('commit');
      await holder.end();
    },
  };
}

test('a response whose connection is killed while it is recorded is recorded by another', async ({ service, key }) => {
  const { mark, runId, release } = await heldRun(service, key);
  const held = await holding(service, 'select from runs where id = $1 for update', runId);
  release();
  const pid = await held.waiter();
  await admin(`select pg_terminate_backend(${pid})`);
  await held.otherThan(pid);
  await held.letGo();
  expect(await runEnded(key, runId)).toMatchObject({
    state: 'succeeded',
    steps: [{ attempt: 1 }],
  });
  expect(requestsWith(service, mark)).toHaveLength(1);
});

test('a response is recorded once, even if its record fails in a deadlock', async ({ service, key, ada }) => {
  // A first run creates the totals of its project.
  const first = await heldRun(service, key);
  first.release();
  await runEnded(key, first.runId);
  const { mark, runId, release } = await heldRun(service, key);
  const name = nameOf(service);
  // A waiting session looks for a deadlock once, after this time, and gives way. The holder has to wait by then too.
  await admin(`alter database ${name} set deadlock_timeout = '5s'`, reconnect(service));
  const totals = 'select from usage_totals where scope_id = $1 for update';
  const held = await holding(service, totals, ada.projectId);
  await held.holder.query("set local deadlock_timeout = '10min'");
  release();
  await held.waiter();
  // The service holds its run and waits for the totals. Now each waits for the other, until the service gives way.
  await held.holder.query('select from runs where id = $1 for update', [runId]);
  await held.letGo();
  await admin(`alter database ${name} reset deadlock_timeout`);
  expect(await runEnded(key, runId)).toMatchObject({
    state: 'succeeded',
    steps: [{ attempt: 1 }],
  });
  expect(requestsWith(service, mark)).toHaveLength(1);
  const ledger = await service.deps.database.rows`select from usage_ledger where run_id = ${runId}`;
  expect(ledger).toHaveLength(1);
});

test('the result of a tool whose connection is killed while it is recorded is recorded by another', async ({
  service,
  key,
}) => {
  const tools = await startHostileTools();
  try {
    const mark = marker();
    const { routineId } = await routineWith(key, ['send_message'], {
      connection: { url: tools.url('honest') },
      routine: { instructions: mark },
    });
    scriptCalls(service, mark, { name: 'send_message', arguments: { to: 'someone' } });
    tools.control.delayMs = 2_000;
    const { data } = await key.post(`/v1/routines/${routineId}/run`);
    await expect.poll(() => tools.control.calls.length).toBe(1);
    const lock = "select from steps where run_id = $1 and kind = 'tool' for update";
    const held = await holding(service, lock, data.id);
    const pid = await held.waiter();
    await admin(`select pg_terminate_backend(${pid})`);
    await held.otherThan(pid);
    await held.letGo();
    const run = await runEnded(key, data.id);
    expect(run.state).toBe('succeeded');
    expect(toolSteps(run)).toMatchObject([{ state: 'succeeded', attempt: 1 }]);
    expect(tools.control.calls).toHaveLength(1);
  } finally {
    await tools.stop();
  }
});
