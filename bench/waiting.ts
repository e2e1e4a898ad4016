import { setTimeout as sleep } from 'node:timers/promises';
import { AT_ONCE, sql, type Sql } from '#lib/database/index.ts';
import { type Benchmark, type Benchmarks, plain, quantile } from './harness/benchmark.ts';
import { load, loadProject, loadRoutines } from '#test/support/given/bulk.ts';
import { startService, type Service } from './harness/service.ts';

const LARGE = 1_000;
const SMALL = 10;
const SLOTS = 50;
const CALL_MS = 5_000;

const queue: Benchmark = {
  about: `${LARGE} runs waiting behind ${SLOTS} slots, with model calls of ${CALL_MS / 1_000} s, and ${SMALL} of another organization that come later`,
  async run({ stack, note }) {
    const service = await startService(stack, { env: { WORKER_CONCURRENCY: String(SLOTS) } });
    try {
      await stack.scriptGateway({ times: null, latencyMs: CALL_MS });
      let small = '';
      await load(service.databaseUrl, async (db) => {
        const projectId = await loadProject(db, 1);
        small = await loadProject(db, 2);
        await loadRoutines(db, { projectId, firstNumber: 0, count: LARGE, dueAt: new Date() });
        await loadRoutines(db, { projectId: small, firstNumber: LARGE, count: SMALL });
      });
      await tick(service);
      // Wait for the third round, in which all slots are taken and hundreds of runs wait.
      await until(service, sql`state in ('running', 'succeeded')`, 2 * SLOTS + 1);
      await service.database.run`update routines set next_run_at = ${AT_ONCE} where project_id = ${small}`;
      await tick(service);
      await until(service, sql`state not in ('queued', 'running', 'skipped')`, LARGE + SMALL);
      const found = await figures(service, small);
      note(`The last run ended ${found.seconds.toFixed(1)} s after the first step began.`);
      return [
        plain(`of ${LARGE + SMALL} runs succeeded`, '', [found.succeeded], {
          atLeast: LARGE + SMALL,
        }),
        plain('slots busy while runs waited', '%', [found.busy * 100], { atLeast: 95 }),
        plain(
          `${SMALL} of the other organization succeeded, in rounds of ${CALL_MS / 1_000} s, after`,
          '',
          [found.smallSeconds / (CALL_MS / 1_000)],
          { atMost: 2 },
        ),
      ];
    } finally {
      await stack.scriptGateway(undefined);
      await service.stop();
    }
  },
};

async function tick({ client, env }: Service): Promise<void> {
  await client.with({ 'X-Scheduler-Secret': env['SCHEDULER_SECRET'] ?? '' }).post('/internal/scheduler/tick');
}

/** Waits until `count` runs meet a condition. */
async function until({ database }: Service, condition: Sql, count: number): Promise<void> {
  const end = Date.now() + 600_000;
  for (;;) {
    const found = await database.row<{
      count: number;
    }>`select count(*)::integer as count from runs where ${condition}`;
    if ((found?.count ?? 0) >= count) return;
    if (Date.now() > end) throw new Error(`only ${found?.count} of ${count} runs after minutes`);
    await sleep(200);
  }
}

/** Measures how busy slots are, from the start of a step to its end, until the last run began. */
async function figures({ database }: Service, smallProjectId: string) {
  const found = await database.row<{
    succeeded: number;
    busy: number;
    seconds: number;
    smallSeconds: number;
  }>`
    with step as (
      select started_at, finished_at from steps where kind = 'model'
    ), span as (
      select min(started_at) as first, max(started_at) as last, max(finished_at) as over from step
    )
    select (select count(*)::integer from runs where state = 'succeeded') as succeeded,
      (select sum(extract(epoch from least(finished_at, last) - started_at)) from step)::float8
        / (${SLOTS}::float8 * extract(epoch from last - first)::float8) as busy,
      extract(epoch from over - first)::float8 as seconds,
      (select extract(epoch from max(finished_at) - min(created_at))::float8 from runs
        where project_id = ${smallProjectId}) as "smallSeconds"
    from span
  `;
  if (found === undefined) throw new Error('no steps on record');
  return found;
}

const DUE = 1_000;

const lateness: Benchmark = {
  about: `${DUE} routines due at a full minute on the running service, ${SMALL} of them of another project; then those again behind a backlog`,
  async run({ stack, long, note }) {
    const service = await startService(stack);
    const backlog = long ? 9_000 : 3_000;
    try {
      const minute = nextMinute(10_000);
      let small = '';
      await load(service.databaseUrl, async (db) => {
        const large = await loadProject(db, 1);
        small = await loadProject(db, 2);
        await loadRoutines(db, {
          projectId: large,
          firstNumber: 0,
          count: DUE - SMALL,
          dueAt: minute,
        });
        await loadRoutines(db, { projectId: small, firstNumber: DUE, count: SMALL, dueAt: minute });
        const later = new Date(minute.getTime() + 1_000);
        await loadRoutines(db, {
          projectId: large,
          firstNumber: 2 * DUE,
          count: backlog,
          dueAt: later,
        });
      });

      const claimed = await claimedAfter(service, minute);
      const [beside] = await endedAfter(service, small, minute);
      await service.client
        .with({ 'X-Scheduler-Secret': service.env['SCHEDULER_SECRET'] ?? '' })
        .post('/internal/scheduler/tick');
      const following = new Date(minute.getTime() + 60_000);
      await service.database.run`update routines set next_run_at = ${following} where project_id = ${small}`;
      const open = sleep(following.getTime() - Date.now()).then(() => openRuns(service));
      const [behind] = await endedAfter(service, small, following);
      note(`At the second minute ${await open} runs of the other project were waiting or under way.`);
      const timesOf = claimed.toSorted((a, b) => a - b);
      return [
        plain(`claim of ${DUE} due, p99 late by`, 's', [quantile(timesOf, 0.99)], { atMost: 1 }),
        plain(`${SMALL} runs succeeded beside ${DUE - SMALL} of another project, after`, 's', [beside ?? Number.NaN]),
        plain(`${SMALL} runs succeeded behind a backlog of another project, after`, 's', [behind ?? Number.NaN], {
          atMost: 5,
        }),
      ];
    } finally {
      await service.stop();
    }
  },
};

/** Returns the next full minute that is at least `aheadMs` away. */
function nextMinute(aheadMs: number): Date {
  return new Date(Math.ceil((Date.now() + aheadMs) / 60_000) * 60_000);
}

/** Returns the seconds from the instant until the row of each occurrence could be seen. */
async function claimedAfter({ database }: Service, instant: Date): Promise<number[]> {
  await sleep(instant.getTime() - Date.now());
  const seen: number[] = [];
  while (seen.length < DUE) {
    const found = await database.rows<{
      count: number;
    }>`select count(*) as count from runs where scheduled_for = ${instant}`;
    const late = (Date.now() - instant.getTime()) / 1_000;
    while (seen.length < (found[0]?.count ?? 0)) seen.push(late);
    if (late > 50) throw new Error(`only ${seen.length} of ${DUE} were claimed within the minute`);
    await sleep(5);
  }
  return seen;
}

/** Returns the seconds from the instant until the last of the project's runs succeeded. */
async function endedAfter({ database }: Service, projectId: string, instant: Date): Promise<number[]> {
  const end = instant.getTime() + 50_000;
  for (;;) {
    const found = await database.rows<{ late: number }>`
      select extract(epoch from finished_at - ${instant}::timestamptz)::float as late from runs
      where project_id = ${projectId} and scheduled_for = ${instant} and state = 'succeeded'
      order by finished_at desc
    `;
    if (found.length >= SMALL) return found.map(({ late }) => late);
    if (Date.now() > end) throw new Error(`${found.length} of ${SMALL} runs succeeded within the minute`);
    await sleep(50);
  }
}

async function openRuns({ database }: Service): Promise<number> {
  const found = await database.rows<{
    count: number;
  }>`select count(*) as count from runs where state in ('queued', 'running')`;
  return found[0]?.count ?? 0;
}

export default { queue, lateness } satisfies Benchmarks;
