import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  isAdmitted,
  freePlaces,
  othersWait,
  rankOf,
  takePlace,
  waiting,
  workersTakingRuns,
} from '#core/execution/admission/room.ts';
import { sql, transaction, type Database } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { TIMES } from '#test/support/properties.ts';

/**
 * Functions of the database count free places, and repeat conditions that other statements of admission take from
 * `room.ts`. These tests compare both with each other, and with a count in plain code.
 */

let testDatabase: TestDatabase;
let database: Database;
let routine: Planted;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  ({ database } = testDatabase);
  routine = await plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
});
afterAll(() => testDatabase.drop());

const QUEUE = 'queue-of-the-test';
const build = fc.constantFrom(null, 'build-a', 'build-b');

const aWorker = fc.record({
  queue: fc.constantFrom(QUEUE, QUEUE, QUEUE, 'another'),
  slots: fc.integer({ min: 1, max: 40 }),
  build,
  takesRuns: fc.boolean(),
  live: fc.boolean(),
});
const aRun = fc.record({
  state: fc.constantFrom('queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'),
  admitted: fc.boolean(),
  held: fc.boolean(),
  waits: fc.boolean(),
  build,
});

interface State {
  readonly workers: readonly (typeof aWorker extends fc.Arbitrary<infer T> ? T : never)[];
  readonly runs: readonly (typeof aRun extends fc.Arbitrary<infer T> ? T : never)[];
}

/** States with few workers mostly, so that places run out. */
const aState: fc.Arbitrary<State> = fc.record({
  workers: fc.array(aWorker, { maxLength: 4 }),
  runs: fc.array(aRun, { maxLength: 30 }),
});

async function become({ workers, runs }: State): Promise<void> {
  await database.query('delete from worker_slots');
  await database.query('delete from runs');
  await database.run`
    insert into worker_slots (worker_id, task_queue, slots, build_id, takes_runs, expires_at)
    select gen_random_uuid()::text, queue, slots, build, "takesRuns",
      now() + case when live then 1 else -1 end * interval '10 minutes'
    from jsonb_to_recordset(${JSON.stringify(workers)}::jsonb)
      as w(queue text, slots integer, build text, "takesRuns" boolean, live boolean)
  `;
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds, admitted_at, held, waits_since, build_id)
    select 'run_' || lpad(n::text, 26, '0'), ${routine.organizationId}, ${routine.projectId}, ${routine.id}, 1,
      'manual', state, 5, 60, case when admitted then now() end, held,
      case when waits then now() end, build
    from rows from (jsonb_to_recordset(${JSON.stringify(runs)}::jsonb)
      as (state text, admitted boolean, held boolean, waits boolean, build text)) with ordinality r(state, admitted, held, waits, build, n)
  `;
}

/** Counts free places as the documentation describes. */
function placesIn({ workers, runs }: State): number {
  const taking = workers.filter(({ queue, takesRuns, live }) => queue === QUEUE && takesRuns && live);
  const slots = taking.reduce((sum, worker) => sum + worker.slots, 0);
  const ahead = taking.length === 0 ? 0 : Math.max(Math.floor(slots / 10), 1);
  const builds = new Set(taking.map((worker) => worker.build));
  const taken = runs.filter(
    (run) => isOpen(run) && run.admitted && !run.waits && (run.build === null || builds.has(run.build)),
  );
  return slots + ahead - taken.length;
}

function isOpen({ state }: State['runs'][number]): boolean {
  return state === 'queued' || state === 'running';
}

function someoneWaits({ runs }: State): boolean {
  return runs.some((run) => run.state === 'queued' && !run.admitted && !run.held);
}

/** The same count, made of the statement pieces in `room.ts`. */
const workers = workersTakingRuns(QUEUE, sql`slots, build_id`);
const fromPieces = sql`
  (select coalesce(sum(slots) + greatest(sum(slots) / 10, 1), 0) from (${workers}) w)
  - (select count(*) from runs where ${isAdmitted}
      and waits_since is null and (build_id is null or build_id in (select build_id from (${workers}) w)))`;

test('the functions of the database count places as the pieces of statements do, and as the documents tell', async () => {
  await fc.assert(
    fc.asyncProperty(aState, async (state) => {
      await become(state);
      const counted = await database.row`
        select ${freePlaces(QUEUE)} as free, ${fromPieces} as "fromPieces", ${othersWait} as waits,
          exists (select from runs where ${waiting}) as "waitsByCondition"
      `;
      const free = placesIn(state);
      const waits = someoneWaits(state);
      expect(counted).toEqual({ free, fromPieces: free, waits, waitsByCondition: waits });
      const taken = await transaction(database, (tx) => tx.row`select ${takePlace(QUEUE)} as place`);
      expect(taken).toEqual({ place: free > 0 && !waits });
    }),
    { numRuns: 300 * TIMES },
  );
});

test('a place is not taken while another has the lock of the admission', async () => {
  await become({
    workers: [{ queue: QUEUE, slots: 5, build: null, takesRuns: true, live: true }],
    runs: [],
  });
  const take = () => transaction(database, (tx) => tx.row`select ${takePlace(QUEUE)} as place`);
  await transaction(database, async (tx) => {
    expect(await tx.row`select ${takePlace(QUEUE)} as place`).toEqual({ place: true });
    expect(await take()).toEqual({ place: false });
  });
  expect(await take()).toEqual({ place: true });
});

test('waiting runs are found by an index in the order in which they are admitted', async () => {
  // The index repeats the expression of `rankOf`. If they differ, Postgres has to sort.
  await become({ workers: [], runs: [] });
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds)
    select 'run_' || lpad(n::text, 26, '0'), ${routine.organizationId}, ${routine.projectId}, ${routine.id}, 1,
      (array['manual', 'schedule'])[1 + n % 2], 'queued', 5, 60 from generate_series(1, 5000) n
  `;
  await database.query('analyze runs');
  const ordered = sql`
    explain select id from runs where ${waiting} and organization_id = ${routine.organizationId}
    order by ${rankOf(sql`runs`)}, id limit 10`;
  const { rows: plan } = await database.query(ordered);
  const text = plan.map((line) => line['QUERY PLAN']).join('\n');
  expect(text).toContain('runs_queue_rank_idx');
  expect(text).not.toContain('Sort');
});
