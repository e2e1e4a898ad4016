import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRecentRuns, listRuns } from '#core/execution/runs/index.ts';
import { RUN_STATES, type RunState } from '#core/execution/run-states/index.ts';
import type { RunFilter } from '#core/execution/runs/queries.ts';
import { previousRunJson } from '#core/execution/steps/begin-step.ts';
import { sql, withStatements, type Db } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { blocksOf as blocksIn } from '#test/support/blocks.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let testDatabase: TestDatabase;
let routine: Planted;
let other: Planted;

/** Plants a routine whose newer runs succeeded or failed, and another with as many cancelled and skipped runs. */
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  routine = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
  other = await plantRoutine(database, {
    schedule: '@yearly',
    nextRunAt: new Date(),
    beside: routine,
  });
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds, finished_at, outcome)
    select 'run_' || lpad((n * 2 + nth)::text, 26, '0'), p.organization_id, p.id, routine_id, 1, 'manual',
      case when n < 40 or nth = 1 then (array['queued', 'running', 'cancelled', 'skipped'])[1 + case when n < 40 then n % 4 else 2 + n % 2 end]
        else (array['succeeded', 'failed'])[1 + n % 2] end, 1, 60, case when n % 4 > 1 or n >= 40 then now() end,
      case when n % 10000 = 44 and nth = 0 then 'partial' end
    from generate_series(0, 29999) n, projects p,
      (values (0, ${routine.id}), (1, ${other.id})) as r(nth, routine_id)
    where p.id = ${routine.projectId}
  `;
  await database.query('vacuum analyze runs');
});
afterAll(() => testDatabase.drop());

/** Most blocks of a page with the name of its routine. Without the index they would be thousands. */
const FEW = 130;

test.each(RUN_STATES)('a page of the %s runs of a routine reads few blocks', async (state) => {
  expect(await blocksOf(pageOf(undefined))).toBeLessThan(FEW);
  expect(await blocksOf(pageOf(state))).toBeLessThan(FEW);
});

test.each(['done', 'nothing_to_report', 'partial'] as const)(
  'a page of the runs that came to %s reads few blocks, of a routine and of its project',
  async (outcome) => {
    expect(await blocksOf(pageOf(undefined, { outcome }))).toBeLessThan(FEW);
    expect(await blocksOf(pageOf(undefined, { outcome, routineId: undefined }))).toBeLessThan(FEW);
  },
);

test('a page of a project, and of a routine, that has most of all runs and has been quiet reads few blocks', async () => {
  const { database } = testDatabase;
  const newer = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds, finished_at)
    select 'run_' || lpad((1000000 + n)::text, 26, '0'), ${newer.organizationId}, ${newer.projectId}, ${newer.id}, 1,
      'schedule', 'succeeded', 1, 60, now()
    from generate_series(0, 9999) n
  `;
  await database.query('vacuum analyze runs');
  try {
    for (const routineId of [undefined, routine.id]) {
      for (const state of [undefined, ...RUN_STATES]) {
        const blocks = await blocksOf(pageOf(state, { routineId }));
        expect({ routineId, state, few: blocks < FEW }).toEqual({ routineId, state, few: true });
      }
      expect(await blocksOf(pageOf(undefined, { routineId, trigger: 'manual' }))).toBeLessThan(FEW);
      const after = `run_${String(30_000).padStart(26, '0')}`;
      const deep = pageOf(undefined, { routineId, page: { limit: 50, after } });
      expect(await blocksOf(deep)).toBeLessThan(FEW);
    }
  } finally {
    await database.run`delete from runs where project_id = ${newer.projectId}`;
    await database.query('vacuum analyze runs');
  }
});

test('a page of a window of time is never read by a plan for any window', async () => {
  const client = withStatements(await testDatabase.database.connect());
  try {
    const since = new Date(Date.now() - 86_400_000);
    // From the sixth execution on Postgres may use one plan for all values.
    for (let time = 0; time < 8; time += 1) {
      await pageOf(undefined, { since })(client);
      await pageOf(undefined, { until: since, routineId: undefined })(client);
      await pageOf(undefined)(client);
    }
    const prepared = await client.rows<{
      statement: string;
    }>`select statement from pg_prepared_statements`;
    const lists = prepared.filter(({ statement }) => statement.includes('"resultPreview"'));
    expect(lists.map(({ statement }) => statement.includes('created_at <'))).toEqual([false]);
    expect(lists.map(({ statement }) => statement.includes('created_at >='))).toEqual([false]);
  } finally {
    client.release();
  }
});

test('the previous run of a routine is read from few blocks, also where none has succeeded', async () => {
  for (const routineId of [routine.id, other.id]) {
    const previous = previousRunJson({
      projectId: sql`${routine.projectId}`,
      routineId: sql`${routineId}`,
    });
    expect(await blocksOf((db) => db.rows`select ${previous}`)).toBeLessThan(20);
  }
});

test('the last runs of two routines are read from few blocks, also where none has succeeded', async () => {
  const page = { limit: 50, after: undefined };
  const read = (db: Db) => listRecentRuns(db, routine.projectId, { page, count: 10 });
  expect(await blocksOf(read)).toBeLessThan(FEW);
});

function pageOf(state: RunState | undefined, over: Partial<RunFilter> = {}) {
  return (db: Db) =>
    listRuns(db, routine.projectId, {
      routineId: routine.id,
      state,
      trigger: undefined,
      outcome: undefined,
      backfillId: undefined,
      since: undefined,
      until: undefined,
      page: { limit: 50, after: undefined },
      ...over,
    });
}

function blocksOf(read: (db: Db) => Promise<unknown>): Promise<number> {
  return blocksIn(testDatabase.database, read);
}
