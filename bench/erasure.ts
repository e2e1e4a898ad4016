import { setTimeout as sleep } from 'node:timers/promises';
import { applyRetention, type RetentionDeps } from '#core/runs/index.ts';
import { applyToBatch } from '#core/runs/retention/due.ts';
import { CONTENT, RUNS, type Stage } from '#core/runs/retention/stages.ts';
import { claimDueRoutines, type ClaimDeps } from '#core/scheduling/index.ts';
import { AT_ONCE, execute, openDatabase, sql, type Database } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { alternate } from './harness/alternate.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { load, loadProject, loadRecords, loadRoutines, loadRuns } from './harness/bulk.ts';
import { explained } from './harness/explain.ts';
import { compared, plain, quantile, type Figure } from './harness/figures.ts';

const DUE = 1_000;
const CLAIM_BATCH = 500;

/** All loaded runs have had their time at the first rule, and at the second they are to be deleted as well. */
const ERASING = { contentDays: 90, runDays: 400 };
const DELETING = { contentDays: 90, runDays: 95 };

const erasure: Benchmark = {
  about: `claiming ${DUE} due routines while the content of a million runs is erased and the runs are deleted`,
  async run({ stack, long, note }) {
    const count = long ? 1_000_000 : 100_000;
    const url = await stack.createDatabase();
    await load(url, async (db) => {
      const projectId = await loadProject(db, 1);
      await loadRoutines(db, { projectId, firstNumber: 0, count: DUE });
      await loadRuns(db, { projectId, routines: DUE, count, daysAgo: 100 });
      await loadRecords(db);
    });
    // Pools of their own, as in two workers.
    const database = openDatabase({ url, poolSize: 2, applicationName: 'bench' });
    const beside = openDatabase({ url, poolSize: 2, applicationName: 'bench' });
    const deps = (retention: RetentionDeps['retention']) => ({ database: beside, retention, log });
    try {
      note(`A batch of erasure:\n\n${await plansOf(url, CONTENT)}`);
      const erasing = await phase(database, deps(ERASING), { what: 'erasing', of: 'erased' });
      note(`A batch of deletion:\n\n${await plansOf(url, RUNS)}`);
      const deleting = await phase(database, deps(DELETING), { what: 'deleting', of: 'deleted' });
      return [...erasing, ...deleting];
    } finally {
      await Promise.all([database.end(), beside.end()]);
    }
  },
};

export default erasure;

const log = createLog({ level: 'silent', name: 'bench' });

/**
 * Measures claims in turn beside a pass and alone, then once more all through one pass over everything that is left,
 * whose speed that gives.
 */
async function phase(
  database: Database,
  deps: RetentionDeps,
  { what, of }: { what: string; of: 'erased' | 'deleted' },
): Promise<Figure[]> {
  const rounds = await alternate(11, {
    value: () => besidePass(deps, () => claimP99(database)),
    baseline: () => claimP99(database),
  });
  const late: number[] = [];
  const over = new AbortController();
  const started = performance.now();
  const pass = applyRetention(deps, { forMs: 3_600_000, signal: new AbortController().signal });
  const claims = (async () => {
    while (!over.signal.aborted) {
      late.push(...(await claimAll(database)));
      await sleep(500);
    }
  })();
  const report = await pass.finally(() => over.abort());
  const seconds = (performance.now() - started) / 1_000;
  await claims;
  const alone: number[] = [];
  for (let n = 0; n < Math.min(late.length / DUE, 30); n += 1) {
    alone.push(...(await claimAll(database)));
    await sleep(500);
  }
  return [
    compared(`claim of ${DUE} due while ${what}, p99 late by`, 's', rounds),
    plain(`the same all through ${what} ${report[of]} runs`, 's', [p99(late)], {
      atMost: 1,
    }),
    plain(`the same of ${alone.length} afterwards, with nothing beside them`, 's', [p99(alone)]),
    plain(`${what}, with its pauses`, 'runs/s', [report[of] / seconds]),
  ];
}

function p99(seconds: readonly number[]): number {
  return quantile(
    seconds.toSorted((a, b) => a - b),
    0.99,
  );
}

/** Does the work in the midst of a pass, which is then given up. */
async function besidePass<T>(deps: RetentionDeps, work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const pass = applyRetention(deps, { forMs: 600_000, signal: over.signal }).catch(() => undefined);
  await sleep(200);
  try {
    return await work();
  } finally {
    over.abort();
    await pass;
  }
}

async function claimP99(database: Database): Promise<number> {
  return p99(await claimAll(database));
}

/** Makes all routines due and claims them; returns by how many seconds each occurrence was late. */
async function claimAll(database: Database): Promise<number[]> {
  await execute(
    database,
    sql`update runs set state = 'succeeded', finished_at = now() where state = 'queued'`,
  );
  await execute(database, sql`delete from period_runs`);
  await execute(database, sql`update routines set next_run_at = ${AT_ONCE}`);
  const due = performance.now();
  const late: number[] = [];
  for (let more = true; more;) {
    const claimed = await claimDueRoutines(claimDeps(database), CLAIM_BATCH);
    ({ more } = claimed);
    const seconds = (performance.now() - due) / 1_000;
    for (let n = 0; n < claimed.runs + claimed.skipped; n += 1) late.push(seconds);
  }
  if (late.length < DUE) throw new Error(`only ${late.length} of ${DUE} were claimed`);
  return late;
}

function claimDeps(database: Database): ClaimDeps {
  return {
    database,
    planRule: { billingConfigured: false, defaultPlan: 'scale' },
    providerEnabled: () => true,
  };
}

async function plansOf(url: string, stage: Stage): Promise<string> {
  const scope = { projectId: undefined, days: DELETING.runDays };
  const found = await explained(url, (database) => applyToBatch(database, stage, scope, undefined));
  return found.join('\n\n');
}
