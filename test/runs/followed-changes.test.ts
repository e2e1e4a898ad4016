import { expect } from 'vitest';
import { performModelStep } from '#core/steps/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { plantRoutine } from '#test/scheduling/planted.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { instantCaller, modelResponse } from '#test/support/model-caller.ts';
import { changeRoutines, changeRuns, plantFollower, plantRun } from '#test/support/given.ts';

const test = serviceTest();

const caller = instantCaller(modelResponse('Nothing is new.'));

test.for([
  { ending: 'succeeds', cancelled: false, webhookUrl: null },
  { ending: 'succeeds and has a webhook', cancelled: false, webhookUrl: 'https://example.com/' },
  { ending: 'is cancelled', cancelled: true, webhookUrl: null },
])(
  'begin and end of a run that $ending are notified to its followers only',
  async ({ cancelled, webhookUrl }, { service }) => {
    const testDatabase = await createTestDatabase();
    const { database } = testDatabase;
    const told: string[] = [];
    const runChanges = { tell: (id: string) => told.push(id), settled: () => Promise.resolve() };
    try {
      const routine = await plantRoutine(database);
      await changeRoutines(database, routine.id, { webhookUrl });
      const perform = async (runId: string) => {
        if (cancelled) {
          await changeRuns(database, runId, { cancelRequestedAt: AT_ONCE });
        }
        await performModelStep(
          { ...service.deps, database, caller, runChanges },
          { runId, index: 0 },
          new AbortController().signal,
        );
      };
      const plant = () => plantRun(database, routine.id, { admittedAt: new Date() });
      const [followed, other] = [await plant(), await plant()];
      await plantFollower(database, followed);
      await perform(other);
      expect(told).toEqual([]);
      await perform(followed);
      expect(told).toEqual([followed, followed]);
    } finally {
      await testDatabase.drop();
    }
  },
);
