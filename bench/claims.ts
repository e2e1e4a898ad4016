import { type ClaimDeps, claimDueRoutines } from '#core/scheduling/index.ts';
import { dyingProcess } from '#test/support/end-deps.ts';
import { createEngine, type Engine } from '#core/foundation/engine/index.ts';
import { announceSlots, createAdmission } from '#core/execution/admission/index.ts';
import { openDatabase, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { openTemporal } from '#lib/temporal/index.ts';
import { type Bench, type Benchmark, type Benchmarks, compared, plain } from './harness/benchmark.ts';
import { load, loadProject, loadRoutines } from '#test/support/given/bulk.ts';
import { alternate, timed, rateFor } from './harness/measure.ts';
import { explained } from '#test/support/plans.ts';
import { UNSERVED_TASK_QUEUE, bareClient, startEmptyWorkflow } from './bare/client.ts';

const CLAIMED = 1_000;
const BATCH = 500;

interface Population {
  readonly url: string;
  readonly database: Database;
  readonly routines: number;
}

const claim: Benchmark = {
  about: `claiming ${CLAIMED} due routines out of a million, against the same out of ten thousand`,
  async run({ stack, note }) {
    const [many, few] = [await populate(stack, 1_000_000), await populate(stack, 10_000)];
    try {
      const measure = async (population: Population) => {
        await makeDue(population);
        return timed(async () => {
          while ((await claimDueRoutines(depsOf(population.database), BATCH)).more);
        });
      };
      await alternate(3, { value: () => measure(many), baseline: () => measure(few) });
      const rounds = await alternate(21, {
        value: () => measure(many),
        baseline: () => measure(few),
      });
      await makeDue(many);
      note(`The plans of one claim of ${BATCH} of ${CLAIMED} due among a million:\n\n${await plans(many)}`);
      return [compared(`claim of ${CLAIMED} due routines`, 'ms', rounds, { atMost: 1.2 })];
    } finally {
      await Promise.all([many.database.end(), few.database.end()]);
    }
  },
};

function depsOf(database: Database): ClaimDeps {
  return {
    ...dyingProcess(database),
    planRule: { billingConfigured: false, defaultPlan: 'scale' },
    providerEnabled: () => true,
  };
}

async function populate(stack: Bench['stack'], routines: number): Promise<Population> {
  const url = await stack.createDatabase();
  await load(url, async (db) => {
    const projectId = await loadProject(db, 1);
    await loadRoutines(db, { projectId, firstNumber: 0, count: routines });
  });
  return { url, routines, database: openDatabase({ url, poolSize: 2, applicationName: 'bench' }) };
}

/**
 * Makes the same routines due at one instant. These routines are spread over the table, and their last runs have ended.
 */
async function makeDue({ database, routines }: Population): Promise<void> {
  await database.run`update runs set state = 'succeeded' where state = 'queued'`;
  await database.run`delete from period_runs`;
  await database.run`
    update routines set next_run_at = now() - interval '1 second'
    where id = any(array(
      select 'rtn_' || lpad((n * ${routines / CLAIMED}::bigint)::text, 26, '0')
      from generate_series(0, ${CLAIMED}::bigint - 1) n
    ))
  `;
}

async function plans({ url }: Population): Promise<string> {
  const found = await explained(url, (database) => claimDueRoutines(depsOf(database), BATCH));
  return found.join('\n\n');
}

const LARGE = 9_000;
const SMALL = 10;
const OTHERS = 990;
const DUE = LARGE + SMALL + OTHERS;
/** Number of workflows that are started at the same time, as in the product. */
const STARTS_IN_FLIGHT = 16;

const burst: Benchmark = {
  about: `${DUE} routines due at once: claimed by two replicas, then started, against a bare client that starts empty workflows`,
  async run({ stack, long }) {
    const url = await stack.createDatabase();
    const small = await loadDue(url);
    const replicas = [1, 2].map(() => openDatabase({ url, poolSize: 10, applicationName: 'bench' }));
    const [database] = replicas as [Database, Database];
    const server = await stack.startTemporal();
    const temporal = await openTemporal({
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: 'default',
      TEMPORAL_TLS: false,
    });
    const bare = await bareClient(server.address);
    try {
      const claimedInMs = await timed(() => Promise.all(replicas.map(claimAll)));
      const doubled = await check(database);

      const waits: number[] = [];
      const dispatchStarted = performance.now();
      const engine = watched(createEngine(temporal, UNSERVED_TASK_QUEUE), ({ projectId }) => {
        if (projectId === small) waits.push((performance.now() - dispatchStarted) / 1_000);
      });
      const seconds = long ? 10 : 4;
      const rates = await alternate(5, {
        value: () => startRate({ database, engine }, long ? 600 : 250),
        baseline: () => rateFor(seconds, STARTS_IN_FLIGHT, () => startEmptyWorkflow(bare)),
      });
      if (waits.length < SMALL) throw new Error('the small project was not started at all');
      return [
        plain(`${DUE} due claimed by two replicas`, 's', [claimedInMs / 1_000], { atMost: 10 }),
        plain('occurrences claimed twice or not at all', '', [doubled], { atMost: 0 }),
        compared('workflows started a second', '/s', rates, { atLeast: 0.85 }),
        plain(`all ${SMALL} of one project started beside ${LARGE} of another, after`, 's', [Math.max(...waits)], {
          atMost: 5,
        }),
      ];
    } finally {
      await Promise.all(replicas.map((pool) => pool.end()));
      await Promise.all([temporal.connection.close(), bare.connection.close()]);
      await server.stop();
    }
  },
};

/** Loads due routines, those of the large project first, so that the small project gets runs only by fairness. */
async function loadDue(url: string): Promise<string> {
  let small = '';
  await load(url, async (db) => {
    const dueAt = new Date();
    let firstNumber = 0;
    for (const [number, count] of [LARGE, SMALL, OTHERS].entries()) {
      const projectId = await loadProject(db, number);
      if (count === SMALL) small = projectId;
      await loadRoutines(db, { projectId, firstNumber, count, dueAt });
      firstNumber += count;
    }
  });
  return small;
}

async function claimAll(database: Database): Promise<void> {
  const deps = {
    ...dyingProcess(database),
    planRule: PLAN_RULE,
    providerEnabled: () => true,
  };
  while ((await claimDueRoutines(deps, BATCH)).more);
}

/** Counts the occurrences without exactly one row, and the routines that are still due. */
async function check(database: Database): Promise<number> {
  const found = await database.row<{ rows: number; distinct: number; due: number }>`
    select count(*) as rows, count(distinct routine_id) as distinct,
      (select count(*) from routines where next_run_at <= now()) as due
    from runs where state = 'queued'
  `;
  const { rows, distinct, due } = found ?? { rows: 0, distinct: 0, due: DUE };
  return Math.abs(rows - distinct) + (DUE - distinct) + due;
}

/** Allows `places` more runs, and returns how many workflows start per second until all places are taken. */
async function startRate(
  { database, engine }: { database: Database; engine: Engine },
  places: number,
): Promise<number> {
  const log = createLog({ level: 'silent', name: 'bench' });
  const full = await database.row<{
    admitted: number;
  }>`select count(*) as admitted from runs where admitted_at is not null`;
  const slots = (full?.admitted ?? 0) + places;
  await announceSlots(database, { workerId: 'bench', taskQueue: UNSERVED_TASK_QUEUE, slots });
  const rule = {
    taskQueue: UNSERVED_TASK_QUEUE,
    planRule: PLAN_RULE,
    runsAtATimeOfAccounts: {},
  };
  const started = performance.now();
  const { started: runs, unavailable } = await createAdmission({
    database,
    engine,
    rule,
    log,
  }).admit();
  if (unavailable) throw new Error(`Temporal refused after ${runs} runs`);
  return runs / ((performance.now() - started) / 1_000);
}

const PLAN_RULE = { billingConfigured: false, defaultPlan: 'scale' as const };

function watched(engine: Engine, started: (run: Parameters<Engine['startRun']>[0]) => void): Engine {
  return {
    ...engine,
    async startRun(run) {
      await engine.startRun(run);
      started(run);
    },
  };
}

export default { claim, burst } satisfies Benchmarks;
