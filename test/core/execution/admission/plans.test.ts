import { expect, test } from 'vitest';
import { admitRuns } from '#core/execution/admission/admit.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { buffersOf, explained } from '#test/support/plans.ts';
import { makeWaiting, ORGANIZATIONS, populate, RULE, vacuum } from '../../../../bench/harness/scale-population.ts';

const ADMITTED_AT_ONCE = 16;

test('a burst of 10,000 runs on statistics from before it is admitted by the index in its order', async () => {
  const testDatabase = await createTestDatabase();
  const population = await populate({ createDatabase: async () => testDatabase.url }, 10_000);
  try {
    await makeWaiting(population);
    await vacuum(population);
    const plans = await explained(population.url, async (database) => {
      expect(await admitRuns(database, RULE, ADMITTED_AT_ONCE)).toHaveLength(ADMITTED_AT_ONCE);
    });
    // The plan reads sixteen candidates of each organization. Reading all waiting runs would touch 10,000 blocks or
    // more.
    expect(buffersOf(plans)).toBeLessThan(3 * ADMITTED_AT_ONCE * ORGANIZATIONS);
  } finally {
    await population.database.end();
    await testDatabase.drop();
  }
});
