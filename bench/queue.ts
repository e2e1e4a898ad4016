import { setTimeout as sleep } from 'node:timers/promises';
import { AT_ONCE, execute, row, sql, type Sql } from '#lib/database/index.ts';
import { type Benchmark, plain } from './harness/benchmark.ts';
import { load, loadProject, loadRoutines } from './harness/bulk.ts';
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
      // Waits for the third round, when all slots are taken and hundreds wait.
      await until(service, sql`state in ('running', 'succeeded')`, 2 * SLOTS + 1);
      await execute(
        service.database,
        sql`update routines set next_run_at = ${AT_ONCE} where project_id = ${small}`,
      );
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

export default queue;

async function tick({ client, env }: Service): Promise<void> {
  await client
    .with({ 'X-Scheduler-Secret': env['SCHEDULER_SECRET'] ?? '' })
    .post('/internal/scheduler/tick');
}

/** Waits until so many runs are in such a state. */
async function until({ database }: Service, condition: Sql, count: number): Promise<void> {
  const end = Date.now() + 600_000;
  for (;;) {
    const found = await row<{ count: number }>(
      database,
      sql`select count(*)::integer as count from runs where ${condition}`,
    );
    if ((found?.count ?? 0) >= count) return;
    if (Date.now() > end) throw new Error(`only ${found?.count} of ${count} runs after minutes`);
    await sleep(200);
  }
}

/** Counts a slot as busy from the beginning of a step to its record, up to the moment at which the last run began. */
async function figures({ database }: Service, smallProjectId: string) {
  const found = await row<{
    succeeded: number;
    busy: number;
    seconds: number;
    smallSeconds: number;
  }>(
    database,
    sql`
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
    `,
  );
  if (found === undefined) throw new Error('no steps on record');
  return found;
}
