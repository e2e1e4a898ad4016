import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { migrate } from '#migrations/migrate.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';

let service: Service;
let workers: WorkerProcesses;
let key: ApiClient;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await workers.close();
  await service.close();
});

/** Deletes the record of the last migration, as if the release had started before its migration; returns its name. */
async function forgetLastMigration(): Promise<string> {
  const last = await service.deps.database.row<{
    name: string;
  }>`delete from migrations where id = (select max(id) from migrations) returning name`;
  return last!.name;
}

function record(name: string) {
  return service.deps.database.run`insert into migrations (name, batch, migration_time) values (${name}, 1, now())`;
}

test('an API whose schema is older than its code is not ready, and says what to do', async () => {
  expect((await service.anonymous.get('/ready')).status).toBe(200);
  const name = await forgetLastMigration();
  const ready = await service.anonymous.get('/ready');
  expect(ready.status).toBe(503);
  expect(ready.body.error.message).toBe(
    `The database schema is older than this release needs: ${name} missing, run node migrations/run.ts.`,
  );
  expect((await service.anonymous.get('/health')).status).toBe(200);
  await record(name);
  expect((await service.anonymous.get('/ready')).status).toBe(200);
});

test('a schema of a later release serves this one, and its migrations have nothing to do', async () => {
  await record('9999_of_a_later_release');
  expect((await service.anonymous.get('/ready')).status).toBe(200);
  expect(await migrate(service.databaseUrl)).toEqual([]);
  await service.deps.database.run`delete from migrations where name = '9999_of_a_later_release'`;
});

test('a worker waits for its schema, and its probes say what it waits for, that it works, and that it drains', async () => {
  const name = await forgetLastMigration();
  const proxy = await startTcpProxy(service.config.TEMPORAL_ADDRESS);
  const port = await freePort();
  const probe = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, body: await response.json() };
  };
  try {
    const worker = workers.launch({
      WORKER_HEALTH_PORT: String(port),
      TEMPORAL_ADDRESS: proxy.address,
    });
    await worker.until('the worker waits for its database');
    expect(worker.output()).toContain(`${name} missing, run node migrations/run.ts`);
    expect(await probe('/health')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await probe('/ready')).toEqual({
      status: 503,
      body: {
        ready: false,
        obstacles: ['it is starting', expect.stringContaining(`${name} missing`)],
        buildId: null,
        takesRuns: false,
      },
    });
    await record(name);
    await worker.until('worker started');
    const working = { ready: true, obstacles: [], buildId: null, takesRuns: true };
    await expect.poll(() => probe('/ready')).toEqual({ status: 200, body: working });

    await proxy.cut();
    await expect
      .poll(() => probe('/ready'))
      .toMatchObject({ status: 503, body: { obstacles: ['Temporal cannot be reached'] } });
    expect((await probe('/health')).status).toBe(200);
    await proxy.mend();
    await expect.poll(() => probe('/ready')).toMatchObject({ status: 200 });

    const release = service.gateway.control.hold();
    const { data: run } = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
    const state = async () => (await key.get(`/v1/runs/${run.id}`)).data.state;
    await expect.poll(state).toBe('running');
    const ended = worker.end('SIGTERM');
    await expect
      .poll(() => probe('/ready'))
      .toMatchObject({ status: 503, body: { obstacles: ['it drains'], takesRuns: false } });
    release();
    expect(await ended).toBe(0);
    expect(await runEnded(key, run.id)).toMatchObject({ state: 'succeeded' });
  } finally {
    await proxy.close();
  }
});

test.runIf(FULL_SIZE)('a worker that waits for its schema ends at once when it is told to', async () => {
  const name = await forgetLastMigration();
  const worker = workers.launch();
  await worker.until('the worker waits for its database');
  expect(await worker.end('SIGTERM')).toBe(0);
  expect(worker.output()).not.toContain('worker started');
  await record(name);
});

test('a database that was never migrated lacks all migrations', async () => {
  const { database } = service.deps;
  await database.run`alter table migrations rename to hidden`;
  try {
    const { body } = await service.anonymous.get('/ready');
    expect(body.error.message).toMatch(/needs: \d+ migrations from 0001_people on missing/);
  } finally {
    await database.run`alter table hidden rename to migrations`;
  }
});
