import { expect } from 'vitest';
import { performModelStep } from '#core/execution/steps/index.ts';
import { AT_ONCE, type Database } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { instantCaller, modelResponse } from '#test/support/model-caller.ts';
import { buffersOf, explained } from '#test/support/plans.ts';
import { plantRun, plantRuns, plantSteps } from '#test/support/given.ts';

const test = serviceTest();

/** Number of executions after which a connection reuses a plan for any values, until there are new statistics. */
const UNTIL_PLANNED = 8;
const GROWN = 20_000;

const caller = instantCaller(modelResponse('Nothing is new.'));

test.for([
  { limits: 'no limit', budget: {}, statements: 2 },
  { limits: 'a budget', budget: { maxTokensPerDay: 100_000_000 }, statements: 3 },
])(
  'a step with $limits, planned while there were few, costs no more when there are many',
  async ({ budget, statements }, { service }) => {
    const testDatabase = await createTestDatabase();
    const { database } = testDatabase;
    try {
      await keepStatistics(database);
      const routine = await plantRoutine(database, budget);
      await explained(testDatabase.url, async (connection, plans) => {
        const performStep = async () => {
          const runId = await plantRun(database, routine.id, { admittedAt: new Date() });
          const deps = { ...service.deps, database: connection, caller };
          const step = performModelStep(deps, { runId, index: 0 }, new AbortController().signal);
          expect(await step).toEqual({ next: 'ended', state: 'succeeded' });
        };
        for (let n = 0; n < UNTIL_PLANNED; n++) await performStep();
        plans.length = 0;
        await performStep();
        // A run without held calls and questions makes no statement for either.
        expect(plans).toHaveLength(statements);
        const young = buffersOf(plans);
        plans.length = 0;
        await grow(database, routine);
        await performStep();
        // Deeper indexes cost 1.6 times as much; a statement that reads all steps once costs more than 5 times as much.
        expect(buffersOf(plans)).toBeLessThan(2.5 * young);
      });
    } finally {
      await testDatabase.drop();
    }
  },
);

/** Keeps the statistics of empty tables, as they remain for a minute after a burst, and longer after a restore. */
async function keepStatistics(database: Database): Promise<void> {
  for (const table of ['runs', 'steps', 'usage_ledger', 'usage_reservations'])
    await database.query(`alter table ${table} set (autovacuum_enabled = false)`);
}

/** Adds ended runs, each with a step. */
async function grow(database: Database, { id }: Planted): Promise<void> {
  const ended = { state: 'succeeded', finishedAt: AT_ONCE } as const;
  await plantSteps(database, await plantRuns(database, id, GROWN, ended));
}
