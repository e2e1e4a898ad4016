import { enqueueManualRun } from '#core/runs/enqueue.ts';
import { admitRuns } from '#core/runs/admission/admit.ts';
import { beginStep } from '#core/runs/begin-step.ts';
import { success } from '#core/runs/ending.ts';
import { recordStepAndSuccess } from '#core/runs/record-step.ts';
import { listRuns } from '#core/runs/index.ts';
import { claimDueRoutines } from '#core/scheduling/index.ts';
import { execute, openDatabase, row, sql, type Database, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { alternate, timed } from './harness/alternate.ts';
import type { Bench, Benchmark } from './harness/benchmark.ts';
import { load, loadProject, loadRoutines, loadRuns, routineId } from './harness/bulk.ts';
import { buffersOf, explained } from './harness/explain.ts';
import { compared, type Figure } from './harness/figures.ts';

const FEW = 10_000;
const ROUTINES = 10_000;
const DUE = 1_000;
const BATCH = 500;
const WAITING = 10_000;
const ORGANIZATIONS = 100;
const ADMITTED_AT_ONCE = 16;
const TARGET = { atMost: 1.5 };

interface Population {
  readonly url: string;
  readonly database: Database;
  readonly projectId: string;
  readonly organizationId: string;
}

const scale: Benchmark = {
  about: `claim, admission, lists and the statements of a run with 1,000,000 runs on record (--long: 10,000,000), against ${FEW}`,
  async run({ stack, long, note }) {
    const count = long ? 10_000_000 : 1_000_000;
    const few = await populate(stack, FEW);
    const loading = performance.now();
    const many = await populate(stack, count);
    note(
      `Loading ${count} runs took ${((performance.now() - loading) / 1_000).toFixed(0)} s. ${await sizes(many)}`,
    );
    try {
      const figures: Figure[] = [];
      for (const { what, prepare, work, times } of WORK) {
        const measure = async (population: Population) => {
          await prepare?.(population);
          const took = await timed(() => repeated(times, () => work(population)));
          return took / times;
        };
        await alternate(1, { value: () => measure(many), baseline: () => measure(few) });
        const rounds = await alternate(long ? 9 : 7, {
          value: () => measure(many),
          baseline: () => measure(few),
        });
        figures.push(compared(what, 'ms', rounds));
        const buffers = async (population: Population) => {
          await prepare?.(population);
          const plans = await explained(population.url, (database) =>
            work({ ...population, database }),
          );
          return buffersOf(plans);
        };
        const touched = { value: [await buffers(many)], baseline: [await buffers(few)] };
        figures.push(compared(what, 'buffers', touched, TARGET));
      }
      return figures;
    } finally {
      await Promise.all([many.database.end(), few.database.end()]);
    }
  },
};

export default scale;

interface Work {
  readonly what: string;
  readonly prepare?: (population: Population) => Promise<void>;
  readonly work: (population: Population) => Promise<unknown>;
  /** Number of repetitions in a round; the figure is that of one. */
  readonly times: number;
}

const NO_FILTER = {
  routineId: undefined,
  state: undefined,
  trigger: undefined,
  outcome: undefined,
  backfillId: undefined,
  since: undefined,
  until: undefined,
  page: { limit: 100, after: undefined },
} as const;

const rule = {
  taskQueue: 'bench',
  planRule: { billingConfigured: false, defaultPlan: 'scale' },
  runsAtATimeOfAccounts: {},
} as const;

const WORK: readonly Work[] = [
  {
    what: `claim of ${DUE} due routines`,
    prepare: makeDue,
    work: async ({ database }) => {
      const deps = { database, planRule: rule.planRule, providerEnabled: () => true };
      while ((await claimDueRoutines(deps, BATCH)).more);
    },
    times: 1,
  },
  {
    what: `admission of ${ADMITTED_AT_ONCE} of ${WAITING} waiting runs of ${ORGANIZATIONS} organizations`,
    prepare: makeWaiting,
    work: async ({ database }) => {
      const admitted = await admitRuns(database, rule, ADMITTED_AT_ONCE);
      if (admitted.length !== ADMITTED_AT_ONCE) throw new Error(`admitted ${admitted.length}`);
    },
    times: 10,
  },
  {
    what: 'statements of a run: enqueue, begin, record',
    prepare: clearWaiting,
    work: oneRun,
    times: 50,
  },
  {
    what: 'page of the runs of a project',
    work: ({ database, projectId }) => listRuns(database, projectId, NO_FILTER),
    times: 20,
  },
  {
    what: 'page of its failed runs',
    work: ({ database, projectId }) =>
      listRuns(database, projectId, { ...NO_FILTER, state: 'failed' }),
    times: 20,
  },
  {
    what: 'page of the runs of a routine',
    work: ({ database, projectId }) =>
      listRuns(database, projectId, { ...NO_FILTER, routineId: routineId(0) }),
    times: 20,
  },
  {
    what: 'page of the cancelled runs of a routine',
    work: ({ database, projectId }) =>
      listRuns(database, projectId, {
        ...NO_FILTER,
        routineId: routineId(0),
        state: 'cancelled',
      }),
    times: 20,
  },
];

async function populate(stack: Bench['stack'], runs: number): Promise<Population> {
  const url = await stack.createDatabase();
  let projectId = '';
  await load(url, async (db) => {
    // The rows refer to each other as they should; to have Postgres look that up for each takes longer than to insert it.
    await execute(db, sql`set session_replication_role = replica`);
    projectId = await loadProject(db, 1);
    await loadRoutines(db, { projectId, firstNumber: 0, count: ROUTINES });
    await loadRuns(db, { projectId, routines: ROUTINES, count: runs });
    await cancelHundred(db);
    for (let n = 0; n < ORGANIZATIONS; n += 1) {
      const project = await loadProject(db, 1_000 + n);
      const firstNumber = ROUTINES + n;
      await loadRoutines(db, { projectId: project, firstNumber, count: 1 });
    }
    await execute(db, sql`update routines set next_run_at = null where project_id <> ${projectId}`);
    await execute(
      db,
      sql`insert into worker_slots (worker_id, task_queue, slots, expires_at) values ('bench', ${rule.taskQueue}, 1000000, 'infinity')`,
    );
    await execute(db, sql`set session_replication_role = origin`);
  });
  const organization = await one<{ id: string }>(
    openedOnce(url),
    sql`select organization_id as id from projects where id = ${projectId}`,
  );
  return { url, database: openedOnce(url), projectId, organizationId: organization.id };
}

/** Cancels a hundred of the first routine's runs, so that both populations have a page of them, spread over all. */
async function cancelHundred(db: Db): Promise<void> {
  await execute(
    db,
    sql`
      update runs set state = 'cancelled' from (
        select id, row_number() over (order by id) as place, count(*) over () as total from runs
        where routine_id = ${routineId(0)}
      ) placed
      where runs.id = placed.id and place % (total / 100) = 0
    `,
  );
}

const databases = new Map<string, Database>();

function openedOnce(url: string): Database {
  const opened = databases.get(url) ?? openDatabase({ url, poolSize: 2, applicationName: 'bench' });
  databases.set(url, opened);
  return opened;
}

async function one<Row extends object>(
  database: Database,
  statement: ReturnType<typeof sql>,
): Promise<Row> {
  const found = await row<Row>(database, statement);
  if (found === undefined) throw new Error('a row is missing');
  return found;
}

async function repeated(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < times; n += 1) await work();
}

/** Makes the same routines due each time, spread over the table; what they started before is over. */
async function makeDue(population: Population): Promise<void> {
  const { database } = population;
  await clearWaiting(population);
  await execute(database, sql`delete from monthly_runs`);
  await execute(
    database,
    sql`
      update routines set next_run_at = now() - interval '1 second'
      where id = any(array(
        select 'rtn_' || lpad((n * ${ROUTINES / DUE}::bigint)::text, 26, '0')
        from generate_series(0, ${DUE}::bigint - 1) n
      ))
    `,
  );
}

/** Runs that wait, in turn of one organization after the other. They are the same rows each time. */
async function makeWaiting(population: Population): Promise<void> {
  const { database } = population;
  await clearWaiting(population);
  await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
        timeout_seconds)
      select 'run_7zzzzzzzzz' || lpad(n::text, 16, '0'), 'org_' || o.number, 'prj_' || o.number,
        'rtn_' || lpad((${ROUTINES}::bigint + n % ${ORGANIZATIONS}::bigint)::text, 26, '0'), 1, 'schedule', 'queued', 25, 900
      from generate_series(0, ${WAITING}::bigint - 1) n
      cross join lateral (
        select lpad((1000 + n % ${ORGANIZATIONS}::bigint)::text, 26, '0') as number
      ) o
      on conflict (id) do update set state = 'queued', admitted_at = null, start_leased_until = null
    `,
  );
}

async function clearWaiting({ database }: Population): Promise<void> {
  await execute(
    database,
    sql`update runs set state = 'succeeded' where state in ('queued', 'running')`,
  );
}

/** The statements that a manual run of one step makes, as API and worker make them. */
async function oneRun({ database, projectId, organizationId }: Population): Promise<void> {
  const id = newId('run');
  await enqueueManualRun(database, rule, {
    id,
    projectId,
    organizationId,
    plan: 'scale',
    routineId: routineId(1),
    variables: {},
    retryOf: null,
    runAt: null,
    standsFor: null,
  });
  const begun = await beginStep(database, id, 0, undefined);
  if (begun === undefined) throw new Error('the run could not begin');
  const text = 'It is mild, the news is calm and the day goes on as planned.';
  const usage = {
    inputTokens: 120,
    cachedInputTokens: 0,
    outputTokens: 20,
    reasoningTokens: 0,
    estimated: false,
  };
  const ended = await recordStepAndSuccess(
    database,
    {
      runId: id,
      index: 0,
      attempt: begun.attempt,
      prompt: begun.instructions,
      briefing: null,
      response: { text, messages: [], toolCalls: [], finishReason: 'stop', usage },
      messages: [{ role: 'assistant', content: text }],
      costUsd: '0.00003',
      cutBy: undefined,
    },
    success(text),
  );
  if (ended === undefined) throw new Error('the run was not recorded');
}

async function sizes({ database }: Population): Promise<string> {
  const { total, heap, indexes } = await one<{ total: string; heap: string; indexes: string }>(
    database,
    sql`select pg_size_pretty(pg_total_relation_size('runs')) as total,
      pg_size_pretty(pg_table_size('runs')) as heap, pg_size_pretty(pg_indexes_size('runs')) as indexes`,
  );
  return `The table of runs has ${total}: ${heap} of rows, ${indexes} of indexes.`;
}
