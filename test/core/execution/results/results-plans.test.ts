import { expect, test } from 'vitest';
import { readAttention } from '#core/upkeep/attention/index.ts';
import { countUnread, listResults } from '#core/execution/results/index.ts';
import { ago, plantRuns } from '#test/support/given.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { plantRoutines } from '#test/core/scheduling/planted.ts';
import { buffersOf, explained } from '#test/support/plans.ts';

const ROUTINES = 20;

test('a page of results, and what needs attention, cost no more among many runs than among few', async () => {
  const testDatabase = await createTestDatabase();
  const { database, url } = testDatabase;
  try {
    const [first, ...others] = await plantRoutines(database, ROUTINES, { nextRunAt: null });
    const reader = { projectId: first!.projectId, readerId: 'usr_reader' };
    const page = { limit: 100, after: undefined };
    const filters = [{ unread: undefined }, { unread: true }];
    const read = (work: (db: Db) => Promise<unknown>) => explained(url, work).then(buffersOf);
    const costs = async () => {
      await database.query('vacuum analyze runs');
      const lists: number[] = [];
      for (const { unread } of filters) {
        lists.push(
          await read((db) => listResults(db, reader, { since: undefined, unread, worthReading: undefined, page })),
        );
      }
      const day = new Date(Date.now() - 86_400_000);
      return [
        ...lists,
        await read((db) => countUnread(db, reader)),
        await read((db) => readAttention(db, first!, day)),
      ];
    };
    const plant = async (count: number) => {
      for (const { id } of [first!, ...others]) {
        const finishedAt = sql`now() - n * interval '1 minute'`;
        await plantRuns(database, id, count / ROUTINES, {
          state: 'succeeded',
          result: 'All is calm.',
          createdAt: ago('20 days'),
          finishedAt,
        });
      }
    };
    await plant(1_200);
    const few = await costs();
    await plant(24_000);
    const many = await costs();
    // If the query read past rows, twenty times as many rows would cost twenty times as much.
    for (const [nth, cost] of many.entries()) expect(cost).toBeLessThan(3 * few[nth]!);
  } finally {
    await testDatabase.drop();
  }
});
