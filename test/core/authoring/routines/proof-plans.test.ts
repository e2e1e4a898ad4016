import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRoutine } from '#core/authoring/routines/index.ts';
import { AT_ONCE, type Db } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { blocksOf } from '#test/support/blocks.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { plantRuns } from '#test/support/given.ts';

let testDatabase: TestDatabase;
let busy: Planted;
let quiet: Planted;
let scheduled: Planted;
let proofs: readonly string[];

/** Plants routines: one has all the manual runs, one has all the scheduled runs, and one has none. */
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  busy = await plantRoutine(database, { schedule: '@yearly' });
  quiet = await plantRoutine(database, { schedule: '@yearly', beside: busy });
  scheduled = await plantRoutine(database, { schedule: '@yearly', beside: busy });
  const succeeded = { state: 'succeeded', finishedAt: AT_ONCE } as const;
  proofs = await plantRuns(database, busy.id, 5_000, succeeded);
  await plantRuns(database, scheduled.id, 5_000, { ...succeeded, trigger: 'schedule' });
  await database.query('vacuum analyze');
});
afterAll(() => testDatabase.drop());

test('a routine is read from few blocks, wherever runs and proofs lie', async () => {
  const { database } = testDatabase;
  for (const { id, projectId } of [quiet, busy, scheduled]) {
    const read = (db: Db) => readRoutine(db, projectId, id).catch(() => undefined);
    expect(await blocksOf(database, read)).toBeLessThan(60);
  }
});

test('of many proofs the latest is given', async () => {
  const { database } = testDatabase;
  const { proofRunId } = await readRoutine(database, busy.projectId, busy.id);
  expect(proofRunId).toBe(proofs.toSorted().at(-1));
});
