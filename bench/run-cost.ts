import { runBareWorkflow } from './bare/client.ts';
import { type Benchmark, type Benchmarks, compared, plain, type Figure } from './harness/benchmark.ts';
import { rateFor, warmUp, cpuSeconds } from './harness/measure.ts';
import { runToSuccess, watchRuns } from './harness/watch.ts';
import { demoRoutine, startService, type Service } from './harness/service.ts';

const IN_FLIGHT = 16;

const runCost: Benchmark = {
  about: `what a run of one step costs: CPU time of each process, rows, bytes and WAL, ${IN_FLIGHT} in flight, an instant model`,
  async run({ stack, long, note }) {
    const service = await startService(stack);
    const bare = await stack.run('Bare worker', 'bench/bare/worker.ts', {
      TEMPORAL_ADDRESS: service.temporalAddress,
    });
    const watch = await watchRuns(service);
    try {
      const routineId = await demoRoutine(service);
      const run = () => runToSuccess(service, watch, routineId);
      const workflow = () => runBareWorkflow(service.temporal);
      await warmUp(IN_FLIGHT, { value: run, baseline: workflow });
      const count = long ? 10_000 : 1_000;
      const { api, worker, temporalPid: temporal } = service;
      const pids = {
        API: api.pid,
        worker: worker?.pid ?? Number.NaN,
        Postgres: stack.postgresPid,
        Temporal: temporal,
      };
      const before = await storedBy(service);
      const runs = await cpuOf(pids, count, run);
      const after = await storedBy(service);
      const workflows = await cpuOf({ worker: bare.pid, Temporal: temporal }, count, workflow);
      const rate = await rateFor(long ? 30 : 10, IN_FLIGHT, run);
      note(await historyOf(service));
      note(`${rate.toFixed(1)} runs a second meanwhile, all processes and the benchmark on this machine.`);
      return [
        plain('API', 'ms CPU a run', [runs.API]),
        compared('worker', 'ms CPU a run', {
          value: [runs.worker],
          baseline: [workflows.worker],
        }),
        plain('Postgres', 'ms CPU a run', [runs.Postgres]),
        compared('Temporal', 'ms CPU a run', {
          value: [runs.Temporal],
          baseline: [workflows.Temporal],
        }),
        ...perRun(before, after, count),
      ];
    } finally {
      await watch.stop();
      await bare.stop();
      await service.stop();
    }
  },
};

/** Repeats the work, and returns the milliseconds of CPU that each process used for one repetition. */
async function cpuOf<Name extends string>(
  pids: Readonly<Record<Name, number>>,
  count: number,
  work: () => Promise<void>,
): Promise<Record<Name, number>> {
  const names = Object.keys(pids) as Name[];
  const read = () => Promise.all(names.map((name) => cpuSeconds(pids[name])));
  const before = await read();
  let begun = 0;
  const keepWorking = async () => {
    while (begun < count) {
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, keepWorking));
  const after = await read();
  const spent = names.map((name, at) => [name, ((after[at]! - before[at]!) * 1_000) / count]);
  return Object.fromEntries(spent) as Record<Name, number>;
}

const TABLES = ['runs', 'steps', 'usage_ledger'] as const;

interface Stored {
  readonly wal: number;
  readonly commits: number;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  readonly heap: Readonly<Record<string, number>>;
  readonly total: Readonly<Record<string, number>>;
}

/** Reads the sizes of the tables after a vacuum, which frees the space of dead rows as autovacuum would. */
async function storedBy({ database }: Service): Promise<Stored> {
  for (const table of TABLES) await database.query(`vacuum ${table}`);
  const stored = await database.row<Stored>`
    select (pg_current_wal_lsn() - '0/0')::float8 as wal,
      (select xact_commit from pg_stat_database where datname = current_database()) as commits,
      sum(n_tup_ins)::float8 as inserted, sum(n_tup_upd)::float8 as updated, sum(n_tup_del)::float8 as deleted,
      jsonb_object_agg(relname, pg_table_size(relid)) filter (where relname = any(${TABLES})) as heap,
      jsonb_object_agg(relname, pg_total_relation_size(relid)) filter (where relname = any(${TABLES})) as total
    from pg_stat_user_tables
  `;
  if (stored === undefined) throw new Error('nothing is stored');
  return stored;
}

function perRun(before: Stored, after: Stored, count: number): Figure[] {
  const grown = (of: (stored: Stored) => number) => [(of(after) - of(before)) / count];
  return [
    plain(
      'commits',
      'a run',
      grown(({ commits }) => commits),
    ),
    plain(
      'rows inserted',
      'a run',
      grown(({ inserted }) => inserted),
    ),
    plain(
      'rows updated',
      'a run',
      grown(({ updated }) => updated),
    ),
    plain(
      'rows deleted',
      'a run',
      grown(({ deleted }) => deleted),
    ),
    plain(
      'WAL',
      'bytes a run',
      grown(({ wal }) => wal),
    ),
    ...TABLES.flatMap((table) => [
      plain(
        `${table}, without indexes`,
        'bytes a run',
        grown(({ heap }) => heap[table] ?? 0),
      ),
      plain(
        `${table}, with indexes`,
        'bytes a run',
        grown(({ total }) => total[table] ?? 0),
      ),
    ]),
  ];
}

async function historyOf({ database, temporal }: Service): Promise<string> {
  const last = await database.row<{
    id: string;
  }>`select id from runs where state = 'succeeded' order by id desc limit 1`;
  const { historyLength, historySize } = await temporal.workflow.getHandle(last?.id ?? '').describe();
  return `The history of a run: ${historyLength} events, ${historySize} bytes.`;
}

export default { 'run-cost': runCost } satisfies Benchmarks;
