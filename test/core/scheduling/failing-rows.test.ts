import { expect } from 'vitest';
import { expireQueued, stopRuns, sweepOpenRuns } from '#core/execution/runs/index.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { sql, type Database } from '#lib/database/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { ago, changeRoutines, plantRun } from '#test/support/given.ts';
import type { Service } from '#test/support/service.ts';
import { plantRoutine, plantRoutines } from './planted.ts';

// A row that Postgres refuses delays no other row, and is reported.
const test = serviceTest({ own: true });
const NOT_ABORTED = new AbortController().signal;

/** Makes Postgres refuse every write of a run that has this value in this column. */
async function refusing(
  database: Database,
  column: 'id' | 'routine_id',
  value: string,
  work: () => Promise<void>,
): Promise<void> {
  await database.query(`
    create function refuse() returns trigger language plpgsql as $$
      begin
        if new.${column} = '${value}' then raise exception 'refused'; end if;
        return new;
      end
    $$;
    create trigger refuse before insert or update on runs for each row execute function refuse();
  `);
  try {
    await work();
  } finally {
    await database.query('drop trigger refuse on runs; drop function refuse');
  }
}

async function statesOf({ deps }: Service, ids: readonly string[]): Promise<string[]> {
  const found = await deps.database.rows<{
    id: string;
    state: string;
  }>`select id, state from runs where id = any(${ids})`;
  return ids.map((id) => found.find((run) => run.id === id)?.state ?? 'none');
}

test('a routine whose claim fails keeps none behind it from its time', async ({ service }) => {
  const { database } = service.deps;
  const [first, failing, last] = await plantRoutines(database, 3, { schedule: '@yearly' });
  const ids = [first!.id, failing!.id, last!.id];
  for (const [index, id] of ids.entries()) {
    await changeRoutines(database, id, { nextRunAt: ago(`${30 - index} seconds`) });
  }
  const parts = createTickParts(service.deps);
  await refusing(database, 'routine_id', failing!.id, async () => {
    await expect(parts.claim(NOT_ABORTED)).rejects.toThrow('refused');
  });
  const claimed = async () => {
    const found = await database.rows<{
      id: string;
    }>`select routine_id as id from runs where routine_id = any(${ids}) order by id`;
    return found.map(({ id }) => id).toSorted();
  };
  expect(await claimed()).toEqual([first!.id, last!.id].toSorted());
  await parts.claim(NOT_ABORTED);
  expect(await claimed()).toEqual(ids.toSorted());
});

test('a run that cannot be skipped keeps no other in the queue', async ({ service }) => {
  const { database } = service.deps;
  const { id: routineId } = await plantRoutine(database, { nextRunAt: null });
  const plant = (minutes: number) =>
    plantRun(database, routineId, { queueUntil: new Date(Date.now() - minutes * 60_000) });
  const runs = [await plant(9), await plant(8), await plant(7)];
  await refusing(database, 'id', runs[0]!, async () => {
    await expect(expireQueued(service.deps, NOT_ABORTED)).rejects.toThrow('refused');
  });
  expect(await statesOf(service, runs)).toEqual(['queued', 'skipped', 'skipped']);
});

test('runs past their deadline end although one cannot, and Temporal is asked once while it is away', async ({
  service,
}) => {
  const { database, engine } = service.deps;
  const { id: routineId } = await plantRoutine(database, { nextRunAt: null });
  const startedAt = new Date(Date.now() - 3_600_000);
  const overdue = { state: 'running', startedAt, admittedAt: startedAt } as const;
  const runs = await Promise.all([1, 2, 3, 4].map(() => plantRun(database, routineId, overdue)));
  const asked: string[] = [];
  const deps = {
    ...service.deps,
    engine: {
      ...engine,
      terminateRun(id: string) {
        asked.push(id);
        return Promise.reject(new Error('Temporal is away'));
      },
    },
  };
  await refusing(database, 'id', runs[1]!, async () => {
    await expect(sweepOpenRuns(deps, NOT_ABORTED)).rejects.toThrow('refused');
  });
  expect(await statesOf(service, runs)).toEqual(['failed', 'running', 'failed', 'failed']);
  expect(asked).toHaveLength(1);
});

test('a run that cannot be stopped keeps no other running, and those that were are followed up', async ({
  service,
}) => {
  const { database, engine } = service.deps;
  const { id: routineId } = await plantRoutine(database, { nextRunAt: null });
  const plant = () =>
    plantRun(database, routineId, {
      state: 'running',
      startedAt: new Date(),
      admittedAt: new Date(),
    });
  const runs = [await plant(), await plant(), await plant()];
  const told: string[] = [];
  const deps = {
    ...service.deps,
    engine: { ...engine, cancelRun: async (id: string) => void told.push(id) },
  };
  await refusing(database, 'id', runs[0]!, async () => {
    await expect(stopRuns(deps, sql`routine_id = ${routineId}`)).rejects.toThrow('refused');
  });
  expect(told.toSorted()).toEqual(runs.slice(1).toSorted());
});
