import { expect } from 'vitest';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import { activateRoutine } from '#core/authoring/routines/index.ts';
import { type Database } from '#lib/database/index.ts';
import { clockTest } from './clock-test.ts';
import { plantRoutine, type Planted } from './planted.ts';
import { changeRoutines, plantRun } from '#test/support/given.ts';

const test = clockTest();

test.for(['2019-05-01T09:30:00Z', '2041-05-01T09:30:00Z'])(
  'at %s by the database, the first time of an activated routine follows that clock and not the process’s own',
  async (instant, { database, clock }) => {
    const planted = await plantRoutine(database, { schedule: '0 7 * * *' });
    await provenDraft(database, planted);
    await clock.set(new Date(instant));
    const { nextRunAt } = await activateRoutine(database, SYSTEM, { ...planted, plan: 'scale' });
    expect(nextRunAt?.toISOString()).toBe(instant.replace('01T09:30:00Z', '02T07:00:00.000Z'));
  },
);

/** Makes a draft's manual run that succeeded. */
async function provenDraft(database: Database, { id }: Planted): Promise<void> {
  await changeRoutines(database, id, { state: 'draft' });
  await plantRun(database, id, { state: 'succeeded' });
}
