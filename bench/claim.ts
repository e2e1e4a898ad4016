import { claimDueRoutines, type ClaimDeps } from '#core/scheduling/claim.ts';
import { createMetrics } from '#lib/metrics/index.ts';
import { execute, openDatabase, sql, type Database } from '#lib/database/index.ts';
import { type Bench, type Benchmark, compared } from './harness/benchmark.ts';
import { load, loadProject, loadRoutines } from './harness/bulk.ts';
import { alternate, timed, explained } from './harness/measure.ts';

const DUE = 1_000;
const BATCH = 500;

interface Population {
  readonly url: string;
  readonly database: Database;
  readonly routines: number;
}

const claim: Benchmark = {
  about: `claiming ${DUE} due routines out of a million, against the same out of ten thousand`,
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
      note(
        `The plans of one claim of ${BATCH} of ${DUE} due among a million:\n\n${await plans(many)}`,
      );
      return [compared(`claim of ${DUE} due routines`, 'ms', rounds, { atMost: 1.2 })];
    } finally {
      await Promise.all([many.database.end(), few.database.end()]);
    }
  },
};

export default claim;

function depsOf(database: Database): ClaimDeps {
  return {
    database,
    planRule: { billingConfigured: false, defaultPlan: 'scale' },
    providerEnabled: () => true,
    metrics: createMetrics().metrics,
    admission: { nudge: () => undefined },
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

/** The same routines each time, spread over the whole table and all at one instant; their last runs are over. */
async function makeDue({ database, routines }: Population): Promise<void> {
  await execute(database, sql`update runs set state = 'succeeded' where state = 'queued'`);
  await execute(database, sql`delete from period_runs`);
  await execute(
    database,
    sql`
      update routines set next_run_at = now() - interval '1 second'
      where id = any(array(
        select 'rtn_' || lpad((n * ${routines / DUE}::bigint)::text, 26, '0')
        from generate_series(0, ${DUE}::bigint - 1) n
      ))
    `,
  );
}

async function plans({ url }: Population): Promise<string> {
  const found = await explained(url, (database) => claimDueRoutines(depsOf(database), BATCH));
  return found.join('\n\n');
}
