import { claimDueRoutines, type ClaimDeps } from '#core/scheduling/index.ts';
import { execute, sql, type Database } from '#lib/database/index.ts';
import type { Bench, Benchmark } from './harness/benchmark.ts';
import { load, storedDefinition } from './harness/bulk.ts';
import { buffersOf, explained } from './harness/explain.ts';
import { compared } from './harness/figures.ts';

const ROUTINES = 1_000;
const ORGANIZATIONS = 500;
const LEDGER_ROWS = 1_000_000;

const claimBudget: Benchmark = {
  about: `claiming ${ROUTINES} budgeted routines in ${ORGANIZATIONS} organizations with a month of ${LEDGER_ROWS} ledger rows, against none, in buffers`,
  async run({ stack, note }) {
    const [full, empty] = [await populate(stack, LEDGER_ROWS), await populate(stack, 0)];
    const value = await buffersOfClaim(full);
    const baseline = await buffersOfClaim(empty);
    note(`The plans of the claim that met the ledger:\n\n${value.plans.join('\n\n')}`);
    if (value.plans.some((plan) => plan.includes('usage_ledger'))) {
      throw new Error('the claim read the ledger');
    }
    const rounds = { value: [value.buffers], baseline: [baseline.buffers] };
    return [compared(`claim of ${ROUTINES} budgeted routines`, 'buffers', rounds, { atMost: 1.2 })];
  },
};

export default claimBudget;

/** Returns the address of a database whose routines are due and whose totals stand for the rows of the ledger. */
async function populate(stack: Bench['stack'], ledgerRows: number): Promise<string> {
  const definition = storedDefinition({
    instructions: 'Write one line.',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
  });
  const url = await stack.createDatabase();
  await load(url, async (db) => {
    await execute(
      db,
      sql`insert into organizations (id, name, max_tokens_per_day)
        select 'org_' || lpad(n::text, 26, '0'), 'bench', 1000000000000 from generate_series(0, ${ORGANIZATIONS}::bigint - 1) n`,
    );
    await execute(
      db,
      sql`insert into projects (id, organization_id, name)
        select 'prj_' || substr(id, 5), id, 'bench' from organizations`,
    );
    await execute(
      db,
      sql`
        insert into routines (id, project_id, name, definition, schedule, timezone, state,
          max_tokens_per_day, max_cost_usd_per_month, next_run_at)
        select 'rtn_' || lpad(n::text, 26, '0'), 'prj_' || lpad((n % ${ORGANIZATIONS}::bigint)::text, 26, '0'), 'Routine',
          ${definition}::jsonb, '0 7 * * *', 'UTC', 'active', 1000000000000, 100000, now() - interval '1 second'
        from generate_series(0, ${ROUTINES}::bigint - 1) n
      `,
    );
    await execute(
      db,
      sql`
        insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
          timeout_seconds)
        select 'run_' || lpad(n::text, 26, '0'), 'org_' || lpad((n % ${ORGANIZATIONS}::bigint)::text, 26, '0'),
          'prj_' || lpad((n % ${ORGANIZATIONS}::bigint)::text, 26, '0'),
          'rtn_' || lpad((n % ${ROUTINES}::bigint)::text, 26, '0'), 1, 'manual', 'succeeded', 25, 900
        from generate_series(0, least(${ROUTINES}::bigint, ${ledgerRows}::bigint) - 1) n
      `,
    );
    await execute(
      db,
      sql`
        insert into usage_ledger (run_id, step_index, project_id, routine_id, model_id, total_tokens, cost_usd, occurred_at)
        select runs.id, n, project_id, routine_id, 'fixture/writer-small', 140, 0.00003,
          greatest(date_trunc('month', now()), now() - n * interval '20 minutes')
        from runs cross join generate_series(0, ${ledgerRows}::bigint / ${ROUTINES}::bigint - 1) n
      `,
    );
    await execute(
      db,
      sql`
        insert into usage_totals (scope_id, day, day_tokens, month, month_tokens, month_cost_usd)
        select scope_id, current_date, 140, date_trunc('month', current_date)::date, 140, 0.00003
        from (select id from organizations union all select id from projects union all select id from routines)
          as scopes(scope_id)
      `,
    );
  });
  return url;
}

async function buffersOfClaim(url: string): Promise<{ buffers: number; plans: string[] }> {
  const plans = await explained(url, (database) => claimDueRoutines(depsOf(database), ROUTINES));
  return { buffers: buffersOf(plans), plans };
}

function depsOf(database: Database): ClaimDeps {
  return {
    database,
    planRule: { billingConfigured: false, defaultPlan: 'scale' },
    providerEnabled: () => true,
  };
}
