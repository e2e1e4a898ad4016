import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRunFeed } from '#core/runs/index.ts';
import { execute, sql } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { createLog } from '#lib/log.ts';
import { plantRoutine } from '#test/scheduling/planted.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let testDatabase: TestDatabase;
const log = createLog({ level: 'silent', name: 'test' });

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

async function plantRun(): Promise<string> {
  const { database } = testDatabase;
  const routine = await plantRoutine(database);
  const id = newId('run');
  await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps, timeout_seconds)
      values (${id}, ${routine.organizationId}, ${routine.projectId}, ${routine.id}, 1, 'manual', 'queued', 1, 60)
    `,
  );
  return id;
}

test('a follower hears of a change, not of its absence, and nothing more once it is gone', async () => {
  const { database } = testDatabase;
  const feed = createRunFeed(database, log);
  const runId = await plantRun();
  const gone = new AbortController();
  const watch = feed.watch(runId, gone.signal);
  expect(await watch.changed()).toBe(true);
  // The feed's first look.
  expect(await watch.changed()).toBe(true);
  let heard = false;
  const change = watch.changed().then((news) => {
    heard = true;
    return news;
  });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(heard).toBe(false);
  await execute(database, sql`update runs set state = 'running' where id = ${runId}`);
  expect(await change).toBe(true);
  const last = watch.changed();
  gone.abort();
  expect(await last).toBe(false);
});

test('a process takes two thousand followers, refuses one more, and takes it when another has gone', async () => {
  const feed = createRunFeed(testDatabase.database, log);
  const runId = await plantRun();
  const controllers = Array.from({ length: 2_000 }, () => new AbortController());
  for (const { signal } of controllers) feed.watch(runId, signal);
  const { signal } = new AbortController();
  expect(() => feed.watch(runId, signal)).toThrow('temporarily unavailable');
  controllers[0]!.abort();
  expect(await feed.watch(runId, signal).changed()).toBe(true);
  feed.close();
  expect(() => feed.watch(runId, signal)).toThrow('temporarily unavailable');
});
