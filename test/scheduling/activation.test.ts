import { expect } from 'vitest';
import { SYSTEM } from '#core/audit/index.ts';
import { activateRoutine } from '#core/routines/index.ts';
import { execute, sql, type Database } from '#lib/database/index.ts';
import { plantRun } from '#test/support/plant-run.ts';
import { clockTest } from './clock-test.ts';
import { plantRoutine, type Planted } from './planted.ts';

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

/** A draft whose manual run has succeeded. */
async function provenDraft(database: Database, { id }: Planted): Promise<void> {
  await execute(database, sql`update routines set state = 'draft' where id = ${id}`);
  await plantRun(database, id, { state: 'succeeded' });
}
