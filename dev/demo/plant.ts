import { openDatabase, raw, sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { pastRunsOf, type MadeRoutine, type PastRun } from './history.ts';

/** Marks a project as the demo. The API has no operation for that. */
export function markDemo(db: Db, projectId: string): Promise<number> {
  return db.run`update projects set is_demo = true where id = ${projectId}`;
}

/** Returns the state of a project; `absent` if this database has no such project. */
export async function stateOfProject(db: Db, projectId: string): Promise<'there' | 'deleted' | 'absent'> {
  const found = await db.row<{
    deleted: boolean;
  }>`select deleted_at is not null as deleted from projects where id = ${projectId}`;
  if (found === undefined) return 'absent';
  return found.deleted ? 'deleted' : 'there';
}

/** Opens the database for the duration of `work`. */
export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'ras-demo' });
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

/**
 * Writes the past runs of the demo's routines with their steps, usage and totals, in one transaction. The API cannot
 * make past runs. All totals are computed from the steps.
 * @param proven whether each routine also gets its proof
 * @returns the runs by routine, oldest first
 */
export async function plantHistory(
  database: Database,
  routines: readonly MadeRoutine[],
  { now, proven }: { readonly now: Date; readonly proven: boolean },
): Promise<ReadonlyMap<string, readonly PastRun[]>> {
  const past = new Map(routines.map((each) => [each.id, pastRunsOf(each, now, proven)]));
  const runs = [...past.values()].flat();
  await transaction(database, async (tx) => {
    await insertRuns(tx, runs);
    await insertSteps(tx, runs);
    await addUsage(
      tx,
      runs.map(({ id }) => id),
    );
    await ageRoutines(tx, [...past.keys()]);
  });
  return past;
}

/** The columns that a past run sets itself; the others are copied from its routine. */
const RUN_COLUMNS = `id, routine_id, trigger, state, reason, error_message, scheduled_for, queue_until,
  admitted_at, workflow_started_at, prompt, briefing, outcome, outcome_summary, result, data, changes, compared_with,
  compared_at, unchanged_runs, withheld, step_count, input_tokens, cached_input_tokens, output_tokens, cost_usd,
  created_at, started_at, finished_at`;

async function insertRuns(tx: Db, runs: readonly PastRun[]): Promise<void> {
  await tx.run`
    insert into runs (${raw(RUN_COLUMNS)}, organization_id, project_id, routine_revision, model_provider,
      model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens)
    select ${ofPast(RUN_COLUMNS)}, p.organization_id, p.id, r.revision, r.model_provider, r.model_connection_id,
    r.model_id,
      r.max_steps, r.timeout_seconds, r.max_total_tokens
    from jsonb_populate_recordset(null::runs, ${JSON.stringify(runs, withoutSteps)}::jsonb) past
    join routines r on r.id = past.routine_id join projects p on p.id = r.project_id
  `;
}

function withoutSteps(key: string, value: unknown): unknown {
  return key === 'steps' ? undefined : value;
}

const STEP_COLUMNS = `run_id, index, kind, state, attempt, model_id, text, tool, finish_reason, error_message, cost_usd,
  started_at, finished_at`;
const STEP_TOKENS = ['input_tokens', 'cached_input_tokens', 'output_tokens'];

async function insertSteps(tx: Db, runs: readonly PastRun[]): Promise<void> {
  const steps = JSON.stringify(runs.flatMap((run) => run.steps));
  const tokens = STEP_TOKENS.map((name) => `coalesce(past.${name}, 0)`).join(', ');
  await tx.run`
    insert into steps (${raw(STEP_COLUMNS)}, ${raw(STEP_TOKENS.join(', '))}, project_id)
    select ${ofPast(STEP_COLUMNS)}, ${raw(tokens)}, runs.project_id
    from jsonb_populate_recordset(null::steps, ${steps}::jsonb) past join runs on runs.id = past.run_id
  `;
}

/** Adds the usage of the steps to the ledger, to the days, and to the totals of routines, project and organization. */
async function addUsage(tx: Db, runIds: readonly string[]): Promise<void> {
  const used = sql`
    from steps s join runs r on r.id = s.run_id
    where s.run_id = any(${runIds}) and s.kind = 'model'
  `;
  await tx.run`
    insert into usage_ledger (run_id, step_index, attempt, project_id, routine_id, model_id, total_tokens, cost_usd,
    occurred_at)
    select s.run_id, s.index, s.attempt, r.project_id, r.routine_id, s.model_id, s.input_tokens + s.output_tokens,
      s.cost_usd, s.finished_at ${used}
  `;
  await tx.run`
    insert into usage_days (project_id, day, routine_id, model_id, input_tokens, cached_input_tokens, output_tokens,
      reasoning_tokens, cost_usd, steps)
    select r.project_id, (s.finished_at at time zone 'utc')::date, r.routine_id, s.model_id, sum(s.input_tokens),
      sum(s.cached_input_tokens), sum(s.output_tokens), 0, sum(s.cost_usd), count(*)
    ${used} group by 1, 2, 3, 4
  `;
  await tx.run`
    insert into usage_totals as t (scope_id, day, day_tokens, month, month_tokens, month_cost_usd)
    select scope_id, now.day, coalesce(sum(tokens) filter (where spent.day = now.day), 0), now.month,
      coalesce(sum(tokens) filter (where spent.day >= now.month), 0),
      coalesce(sum(cost_usd) filter (where spent.day >= now.month), 0)
    from (
      select unnest(array[r.organization_id, r.project_id, r.routine_id]) as scope_id, s.cost_usd,
        (s.finished_at at time zone 'utc')::date as day, s.input_tokens + s.output_tokens as tokens ${used}
    ) spent, (
      select (now() at time zone 'utc')::date as day, date_trunc('month', now() at time zone 'utc')::date as month
    ) now
    group by scope_id, now.day, now.month order by scope_id
    on conflict (scope_id) do update set
      day = excluded.day, month = excluded.month,
      day_tokens = excluded.day_tokens + case when t.day = excluded.day then t.day_tokens else 0 end,
      month_tokens = excluded.month_tokens + case when t.month = excluded.month then t.month_tokens else 0 end,
      month_cost_usd = excluded.month_cost_usd + case when t.month = excluded.month then t.month_cost_usd else 0 end
  `;
}

/** Sets the dates of the routines to before their first runs, and sets their last runs. */
async function ageRoutines(tx: Db, routineIds: readonly string[]): Promise<void> {
  const madeAt = sql`(select min(created_at) - interval '1 hour' from runs where routine_id = any(${routineIds}))`;
  await tx.run`
    update routines r set created_at = ${madeAt}, updated_at = ${madeAt},
      last_run_at = (select max(finished_at) from runs where routine_id = r.id)
    where r.id = any(${routineIds})
  `;
  await tx.run`update routine_versions set created_at = ${madeAt} where routine_id = any(${routineIds})`;
}

function ofPast(columns: string): Sql {
  return raw(columns.replaceAll(/\w+/g, (name) => `past.${name}`));
}
