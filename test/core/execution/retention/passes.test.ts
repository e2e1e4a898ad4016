import type pg from 'pg';
import { dyingProcess } from '#test/support/end-deps.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { retentionBacklog } from '#core/execution/retention/index.ts';
import { selectDue } from '#core/execution/retention/due.ts';
import { findScopes } from '#core/execution/retention/apply-retention.ts';
import { CONTENT, RUNS, type Stage } from '#core/execution/retention/stages.ts';
import { redeliver } from '#core/delivery/webhooks/index.ts';
import { AT_ONCE, withStatements, type Database, type Db } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  ago,
  changeDeliveries,
  changeProjects,
  changeRoutines,
  changeRuns,
  plantRun,
  plantSkipped,
} from '#test/support/given.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { NOTHING, plantDelivery, plantEndedRuns, remainsOf, retain, RULE } from './planted-runs.ts';

let testDatabase: TestDatabase;
let database: Database;
let routine: Planted;

beforeAll(async () => {
  testDatabase = await createTestDatabase(20);
  ({ database } = testDatabase);
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  await database.run`truncate runs, webhook_deliveries cascade`;
  routine = await plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
});

test('nothing that is open, waits, or has just been counted again is erased, however old it is', async () => {
  const at = ago('2 years');
  const old = { trigger: 'schedule', prompt: 'a prompt', createdAt: at, startedAt: at } as const;
  await plantRun(database, routine.id, { ...old, state: 'queued', scheduledFor: at });
  await plantRun(database, routine.id, { ...old, state: 'running', scheduledFor: ago('700 days') });
  // A streak of skipped occurrences that began long ago and lasted until yesterday.
  const skipped = { ...old, state: 'skipped', finishedAt: ago('1 day') } as const;
  await plantSkipped(database, routine.id, ago('600 days'), skipped);
  expect(await retain(database)).toEqual(NOTHING);
  expect(await remainsOf(database, routine.projectId)).toMatchObject({ runs: 3, texts: 3 });
  await changeRuns(database, { state: 'skipped' }, { finishedAt: ago('91 days') });
  expect(await retain(database)).toEqual({ erased: 1, deleted: 0 });
});

test('runs of paused and archived routines are kept as long as others', async () => {
  await plantEndedRuns(database, routine, { daysAgo: 89, count: 2 });
  await plantEndedRuns(database, routine, { daysAgo: 91, count: 2, state: 'failed' });
  await changeRoutines(database, routine.id, { state: 'archived' });
  expect(await retain(database)).toEqual({ erased: 2, deleted: 0 });
  expect(await remainsOf(database, routine.projectId)).toMatchObject({ runs: 4, unerased: 2 });
});

test('passes that meet share the work, and each run is erased and deleted once', async () => {
  await plantEndedRuns(database, routine, { daysAgo: 450, count: 1_500 });
  await plantEndedRuns(database, routine, { daysAgo: 100, count: 700 });
  await plantEndedRuns(database, routine, { daysAgo: 10, count: 50 });
  const reports = await Promise.all(Array.from({ length: 5 }, () => retain(database)));
  // A pass skips rows that another pass has locked, and deletes runs that an earlier pass erased.
  reports.push(await retain(database));
  const sum = (of: 'erased' | 'deleted') => reports.reduce((total, report) => total + report[of], 0);
  expect([sum('erased'), sum('deleted')]).toEqual([2_200, 1_500]);
  expect(reports.filter(({ erased }) => erased > 0).length).toBeGreaterThan(1);
  expect(await remainsOf(database, routine.projectId)).toEqual({
    runs: 750,
    unerased: 50,
    texts: 100,
    steps: 750,
    bodies: 0,
    deliveries: 0,
    ledger: 2_250,
  });
});

test('a project with a large backlog keeps none with a small one from its turn', async () => {
  const small = await plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
  await changeProjects(database, [routine.projectId, small.projectId], { runContentDays: 5 });
  await plantEndedRuns(database, routine, { daysAgo: 6, count: 1_000 });
  await plantEndedRuns(database, small, { daysAgo: 6, count: 3 });
  const scopes = await findScopes(database, CONTENT, RULE);
  expect(new Set(scopes.map(({ projectId }) => projectId))).toEqual(
    new Set([undefined, routine.projectId, small.projectId]),
  );
  const gone = new AbortController();
  const watch = async () => {
    while ((await remainsOf(database, small.projectId)).unerased > 0);
    gone.abort(new Error('seen'));
  };
  await Promise.all([expect(retain(database, gone.signal)).rejects.toThrow(), watch()]);
  expect((await remainsOf(database, routine.projectId)).unerased).toBeGreaterThanOrEqual(400);
});

test('a project whose runs cannot be erased keeps none of the others from it, and is told of', async () => {
  const poisoned = await plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
  await changeProjects(database, [routine.projectId, poisoned.projectId], { runContentDays: 5 });
  for (const of of [routine, poisoned]) await plantEndedRuns(database, of, { daysAgo: 6, count: 500 });
  await plantEndedRuns(database, routine, { daysAgo: 450, erased: true });
  await database.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger poison before update on runs for each row
      when (old.project_id = '${poisoned.projectId}') execute function refuse();
  `);
  try {
    await expect(retain(database)).rejects.toThrow('refused');
    expect(await remainsOf(database, poisoned.projectId)).toMatchObject({ unerased: 500 });
    expect(await remainsOf(database, routine.projectId)).toMatchObject({ runs: 500, unerased: 0 });
  } finally {
    await database.query('drop trigger poison on runs; drop function refuse');
  }
});

test('a pass that is given up does nothing more', async () => {
  await plantEndedRuns(database, routine, { daysAgo: 91, count: 3 });
  await expect(retain(database, AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
  expect(await remainsOf(database, routine.projectId)).toMatchObject({ unerased: 3, texts: 6 });
});

test('a run with a delivery that is still to be made waits for it, and holds up no other', async () => {
  const [waiting = ''] = await plantEndedRuns(database, routine, { daysAgo: 450 });
  const delivery = await plantDelivery(database, waiting, 'pending');
  await plantEndedRuns(database, routine, { daysAgo: 100 });
  expect(await retain(database)).toEqual({ erased: 1, deleted: 0 });
  expect(await remainsOf(database, routine.projectId)).toMatchObject({ unerased: 1, bodies: 1 });
  await changeDeliveries(database, delivery, { state: 'failed' });
  expect(await retain(database)).toEqual({ erased: 1, deleted: 1 });
  expect(await remainsOf(database, routine.projectId)).toMatchObject({ runs: 1, deliveries: 0 });
});

test('of a redelivery and an erasure that meet, one comes first and the other knows it', async () => {
  const ids = await plantEndedRuns(database, routine, { daysAgo: 91, count: 60 });
  const deliveries = new Map<string, string>();
  for (const id of ids) deliveries.set(id, await plantDelivery(database, id, 'failed'));
  const { projectId } = routine;
  const [, ...asked] = await Promise.all([
    retain(database),
    ...ids.map(async (runId) => {
      const input = { projectId, runId, deliveryId: deliveries.get(runId)! };
      return redeliver(dyingProcess(database), input).then(
        () => 'pending',
        ({ code }: { code: string }) => code,
      );
    }),
  ]);
  const found = await database.rows<{
    id: string;
    erased: boolean;
    state: string;
    hasBody: boolean;
  }>`
    select runs.id, content_erased_at is not null as erased, d.state, body is not null as "hasBody"
    from runs join webhook_deliveries d on d.run_id = runs.id where runs.project_id = ${projectId}
  `;
  const byId = new Map(found.map((run) => [run.id, run]));
  for (const [index, id] of ids.entries()) {
    const { erased, state, hasBody } = byId.get(id)!;
    // A delivery is pending with its body or erased without it, and never in between.
    if (asked[index] === 'pending') expect([erased, state, hasBody]).toEqual([false, 'pending', true]);
    else expect([asked[index], state, hasBody]).toEqual(['content_erased', 'failed', false]);
  }
});

test.each([
  ['erasing', { daysAgo: 91 }],
  ['deleting', { daysAgo: 401, erased: true }],
] as const)('%s is done wholly or not at all, wherever its process dies', async (_, fields) => {
  await plantEndedRuns(database, routine, { ...fields, count: 3 });
  const [first = ''] = await plantEndedRuns(database, routine, { ...fields });
  await plantDelivery(database, first, 'delivered');
  const before = await remainsOf(database, routine.projectId);
  let deaths = 0;
  for (let statement = 1; ; statement += 1) {
    const died = await retain(dyingAt(database, statement)).then(
      () => false,
      () => true,
    );
    if (!died) break;
    deaths += 1;
    expect(await remainsOf(database, routine.projectId)).toEqual(before);
  }
  // The connection ended once at each statement of the transaction, and once at the commit.
  expect(deaths).toBeGreaterThanOrEqual(5);
  const after = await remainsOf(database, routine.projectId);
  expect(after).toMatchObject('erased' in fields ? { runs: 0, steps: 0 } : { runs: 4, texts: 0 });
});

test.runIf(FULL_SIZE).each([
  ['content', CONTENT, { daysAgo: 10 }],
  ['runs', RUNS, { daysAgo: 300, erased: true }],
] as const)('finding what is due at stage %s reads few blocks', async (_, stage, fields) => {
  await changeProjects(database, routine.projectId, { runContentDays: 30, runDays: 350 });
  // These projects have a setting but no runs. For each of them, the planner assumes that it has all runs.
  const others = await plantProjects(20);
  await changeProjects(database, others, { runContentDays: 5 });
  // Plant many runs that are not due, and ten that are due.
  await plantEndedRuns(database, routine, { ...fields, count: 20_000 });
  await plantEndedRuns(database, routine, { ...fields, daysAgo: 399, count: 10 });
  await database.query('vacuum analyze runs');
  expect(await blocksOf((db) => findScopes(db, stage, RULE))).toBeLessThan(200);
  for (const projectId of [undefined, routine.projectId]) {
    const scope = { projectId, days: stage.daysOfAll({ contentDays: 90, runDays: 350 }) };
    const select = (db: Db) => db.rows`${selectDue(stage, scope, undefined)}`;
    expect(await blocksOf(select)).toBeLessThan(200);
    expect((await plansOf(select)).join()).not.toContain('Seq Scan on runs');
  }
});

/** Returns by how many days the oldest due run is late, at each stage. */
async function overdueDays() {
  const { content, runs } = retentionBacklog(RULE);
  const found = await database.row<{
    content: number;
    runs: number;
  }>`select ${content} / 86400 as content, ${runs} / 86400 as runs`;
  return { content: Number(found!.content.toFixed(2)), runs: Number(found!.runs.toFixed(2)) };
}

test('the backlog is the time that the oldest due run is past its days, of all projects and of those that chose', async () => {
  expect(await overdueDays()).toEqual({ content: 0, runs: 0 });
  await plantEndedRuns(database, routine, { daysAgo: 92 });
  await plantEndedRuns(database, routine, { daysAgo: 91 });
  await plantEndedRuns(database, routine, { daysAgo: 403, erased: true });
  // Neither run is due: one is pinned, the other still has an event to send.
  const [kept = '', telling = ''] = await plantEndedRuns(database, routine, {
    daysAgo: 300,
    count: 2,
  });
  await changeRuns(database, kept, { pinned: true });
  const delivery = await plantDelivery(database, telling, 'pending');
  expect(await overdueDays()).toEqual({ content: 2, runs: 3 });

  const choosy = await plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
  await plantEndedRuns(database, choosy, { daysAgo: 12 });
  await changeProjects(database, choosy.projectId, { runContentDays: 5 });
  expect(await overdueDays()).toEqual({ content: 7, runs: 3 });

  await changeDeliveries(database, delivery, { state: 'failed' });
  expect(await overdueDays()).toEqual({ content: 210, runs: 3 });
  await retain(database);
  expect(await overdueDays()).toEqual({ content: 0, runs: 0 });
});

test.runIf(FULL_SIZE)('the backlog is read from few blocks, however much is kept', async () => {
  const projects = await plantProjects(20);
  await changeProjects(database, projects, { runContentDays: 60 });
  await plantEndedRuns(database, routine, { daysAgo: 30, count: 20_000 });
  await plantEndedRuns(database, routine, { daysAgo: 300, erased: true, count: 20_000 });
  await plantEndedRuns(database, routine, { daysAgo: 100, count: 10 });
  await database.query('vacuum analyze runs');
  const { content, runs } = retentionBacklog(RULE);
  const read = (db: Db) => db.rows`select ${content} as content, ${runs} as runs`;
  expect(await blocksOf(read)).toBeLessThan(300);
});

test('a run that ends has entries in the indexes of the first stage only, and a pinned one in none', async () => {
  const stages: readonly Stage[] = [CONTENT, RUNS];
  const found = async (days: number) =>
    Promise.all(
      stages.map(async (stage) => {
        const scope = { projectId: routine.projectId, days };
        return (await database.rows`${selectDue(stage, scope, undefined)}`).length;
      }),
    );
  const [id = ''] = await plantEndedRuns(database, routine, { daysAgo: 10 });
  expect(await found(9)).toEqual([1, 0]);
  expect(await found(11)).toEqual([0, 0]);
  await changeRuns(database, id, { contentErasedAt: AT_ONCE });
  expect(await found(9)).toEqual([0, 1]);
  await changeRuns(database, id, { pinned: true });
  expect(await found(9)).toEqual([0, 0]);
});

async function plantProjects(count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    ids.push((await plantRoutine(database, { schedule: '@yearly', nextRunAt: null })).projectId);
  }
  return ids;
}

/** Makes a database whose connections end at this statement of a transaction, counted from 1, or at the commit. */
function dyingAt(given: Database, statement: number): Database {
  const connect = async () => {
    const client = await given.connect();
    let count = 0;
    return new Proxy(client, {
      get(target, name) {
        if (name !== 'query') {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return async (config: pg.QueryConfig | string) => {
          count += 1;
          if (count === statement) {
            await target.query('rollback');
            throw Object.assign(new Error('the process died'), { code: '57P01' });
          }
          return target.query(config);
        };
      },
    });
  };
  return new Proxy(given, {
    get(target, name) {
      if (name === 'connect') return connect;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

interface Plan {
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
}

async function blocksOf(work: (db: Db) => Promise<unknown>): Promise<number> {
  const plans: Plan[] = [];
  await work(explaining('format json', (row) => plans.push(row[0]['Plan'])));
  return plans.reduce((sum, plan) => sum + (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN), 0);
}

async function plansOf(work: (db: Db) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  await work(explaining('format text', (line) => lines.push(line)));
  return lines;
}

/** Makes a database that explains statements instead of returning their rows. */
// oxlint-disable-next-line typescript/no-explicit-any -- what Postgres says of a plan
function explaining(format: string, keep: (plan: any) => void): Db {
  return withStatements({
    async query(config) {
      const result = await database.query({
        text: `explain (analyze, buffers, ${format}) ${config.text}`,
        values: config.values ?? [],
      });
      for (const line of result.rows) keep(line['QUERY PLAN']);
      return { ...result, rows: [] };
    },
  });
}
