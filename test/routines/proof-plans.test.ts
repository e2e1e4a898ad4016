import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRoutine } from '#core/routines/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/scheduling/planted.ts';
import { blocksOf } from '#test/support/blocks.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let testDatabase: TestDatabase;
let busy: Planted;
let quiet: Planted;
let scheduled: Planted;

/** Routines of which one has all the manual runs, one all the scheduled ones, and one none. */
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  busy = await plantRoutine(database, { schedule: '@yearly' });
  quiet = await plantRoutine(database, { schedule: '@yearly', beside: busy });
  scheduled = await plantRoutine(database, { schedule: '@yearly', beside: busy });
  await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
        timeout_seconds, finished_at)
      select 'run_' || lpad(n::text, 26, '0'), ${busy.organizationId}, ${busy.projectId}, id, 1, trigger, 'succeeded',
        1, 60, now()
      from generate_series(0, 9999) n join (
        values (0, ${busy.id}, 'manual'), (1, ${scheduled.id}, 'schedule')
      ) kind(rest, id, trigger) on rest = n % 2
    `,
  );
  await database.query('vacuum analyze');
});
afterAll(() => testDatabase.drop());

test('a routine is read from few blocks whoever has the runs, and the proofs', async () => {
  const { database } = testDatabase;
  for (const { id, projectId } of [quiet, busy, scheduled]) {
    const read = (db: Db) => readRoutine(db, projectId, id).catch(() => undefined);
    expect(await blocksOf(database, read)).toBeLessThan(60);
  }
});

test('of many proofs the latest is given', async () => {
  const { database } = testDatabase;
  const { proofRunId } = await readRoutine(database, busy.projectId, busy.id);
  expect(proofRunId).toBe(`run_${'9998'.padStart(26, '0')}`);
});
