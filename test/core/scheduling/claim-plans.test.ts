import { expect, test } from 'vitest';
import { claimDueRoutines } from '#core/scheduling/index.ts';
import { ago, plantRuns, plantSpending } from '#test/support/given.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { buffersOf, explained } from '#test/support/plans.ts';
import { plantRoutines, selfHosted } from './planted.ts';

const DUE = 100;

test('claiming routines with budgets costs no more after a month of spending than after none', async () => {
  const testDatabase = await createTestDatabase();
  const { database, url } = testDatabase;
  try {
    const budget = { maxTokensPerDay: 1_000_000_000, maxCostUsdPerMonth: '1000' };
    const planted = () => plantRoutines(database, DUE, { ...budget, nextRunAt: new Date(Date.now() - 1_000) });
    const claimed = async () => {
      await database.run`vacuum (analyze)`;
      const plans = await explained(url, (db) => claimDueRoutines(selfHosted(db), DUE));
      expect(plans.join('\n')).not.toContain('usage_ledger');
      return buffersOf(plans);
    };
    // The first claim finds empty tables and so cannot be compared with later ones.
    await planted();
    await claimed();
    await planted();
    const none = await claimed();
    const [spender] = await planted();
    const ended = { state: 'succeeded', finishedAt: ago('1 hour') } as const;
    await plantSpending(database, await plantRuns(database, spender!.id, 10_000, ended));
    // A statement that reads the ledger or the runs once would cost several times as much.
    expect(await claimed()).toBeLessThan(1.25 * none);
  } finally {
    await testDatabase.drop();
  }
});
