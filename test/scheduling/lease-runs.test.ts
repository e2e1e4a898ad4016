import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { leaseRuns } from '#core/scheduling/lease-runs.ts';
import { execute, sql } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { plantRoutine, type Planted } from './planted.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterEach(() => execute(testDatabase.database, sql`delete from runs`));
afterAll(() => testDatabase.drop());

interface Fields {
  readonly state?: string;
  readonly trigger?: 'schedule' | 'manual';
  readonly createdSecondsAgo?: number;
  readonly leasedSeconds?: number;
  readonly started?: boolean;
}

/** Runs of one routine that wait for their start, oldest first. */
async function plantRuns(routine: Planted, count: number, fields: Fields = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('run'));
  await execute(
    testDatabase.database,
    sql`
      insert into runs (id, project_id, routine_id, routine_revision, trigger, state, max_steps, timeout_seconds,
        created_at, start_leased_until, workflow_started_at)
      select id, ${routine.projectId}, ${routine.id}, 1, ${fields.trigger ?? 'schedule'}, ${fields.state ?? 'queued'},
        1, 60, now() - make_interval(secs => ${fields.createdSecondsAgo ?? 0}::integer),
        now() + make_interval(secs => ${fields.leasedSeconds ?? null}::integer),
        case when ${fields.started ?? false}::boolean then now() end
      from unnest(${ids}::text[]) as id
    `,
  );
  return ids;
}

const projects = (count: number) =>
  Promise.all(Array.from({ length: count }, () => plantRoutine(testDatabase.database)));

async function leased(limit: number): Promise<string[]> {
  return (await leaseRuns(testDatabase.database, limit)).map(({ id }) => id);
}

test('the oldest runs of a project come first, no more than were asked for', async () => {
  const [routine] = await projects(1);
  const ids = await plantRuns(routine!, 5);
  expect((await leased(3)).toSorted()).toEqual(ids.slice(0, 3));
  expect((await leased(3)).toSorted()).toEqual(ids.slice(3));
  expect(await leased(3)).toEqual([]);
});

test('what a leased run needs to be started comes with it', async () => {
  const [routine] = await projects(1);
  const [id] = await plantRuns(routine!, 1);
  expect(await leaseRuns(testDatabase.database, 10)).toEqual([
    {
      id,
      projectId: routine!.projectId,
      routineId: routine!.id,
      trigger: 'schedule',
      timeoutSeconds: 60,
    },
  ]);
});

test('each project gets an equal share, so that thousands of one stand behind ten of another', async () => {
  const [many, few, one] = await projects(3);
  const ofMany = await plantRuns(many!, 200);
  const ofFew = await plantRuns(few!, 4);
  const ofOne = await plantRuns(one!, 1);
  const first = await leased(30);
  expect(first.toSorted()).toEqual([...ofMany.slice(0, 10), ...ofFew, ...ofOne].toSorted());
  // Alone, a project gets all there is.
  expect((await leased(30)).toSorted()).toEqual(ofMany.slice(10, 40));
});

test('of more projects than can be served those that have waited longest are', async () => {
  const routines = await projects(6);
  const oldest: string[] = [];
  for (const routine of routines) oldest.push((await plantRuns(routine, 2))[0]!);
  expect((await leased(4)).toSorted()).toEqual(oldest.slice(0, 4));
});

test('a run is leased for half a minute, and again after that', async () => {
  const [routine] = await projects(1);
  const [id] = await plantRuns(routine!, 1);
  expect(await leased(1)).toEqual([id]);
  const { rows } = await testDatabase.database.query(
    'select extract(epoch from start_leased_until - now()) as seconds from runs where id = $1',
    [id],
  );
  expect(Number(rows[0].seconds)).toBeGreaterThan(25);
  expect(Number(rows[0].seconds)).toBeLessThanOrEqual(30);
  expect(await leased(1)).toEqual([]);
  await execute(
    testDatabase.database,
    sql`update runs set start_leased_until = now() - interval '1 millisecond' where id = ${id}`,
  );
  expect(await leased(1)).toEqual([id]);
});

test('runs that are started, over, or leased by another are passed over', async () => {
  const [routine] = await projects(1);
  await plantRuns(routine!, 1, { started: true });
  await plantRuns(routine!, 1, { state: 'running' });
  await plantRuns(routine!, 1, { state: 'cancelled' });
  await plantRuns(routine!, 1, { leasedSeconds: 20 });
  const free = await plantRuns(routine!, 1, { leasedSeconds: -1 });
  expect(await leased(10)).toEqual(free);
});

test('a manual run is left to the request that made it for ten seconds', async () => {
  const [routine] = await projects(1);
  await plantRuns(routine!, 1, { trigger: 'manual', createdSecondsAgo: 5 });
  const forgotten = await plantRuns(routine!, 1, { trigger: 'manual', createdSecondsAgo: 11 });
  expect(await leased(10)).toEqual(forgotten);
});

test('ticks that lease at the same time share the runs out, none twice and none lost', async () => {
  const routines = await projects(3);
  const ids: string[] = [];
  for (const routine of routines) ids.push(...(await plantRuns(routine, 20)));
  const taken: string[] = [];
  for (let round = 0; round < 20 && taken.length < ids.length; round += 1) {
    const batches = await Promise.all(Array.from({ length: 5 }, () => leased(9)));
    taken.push(...batches.flat());
  }
  expect(taken.toSorted()).toEqual(ids.toSorted());
});
