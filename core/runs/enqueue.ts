import { runsExceeded, takeOneRun, type Plan } from '#core/billing/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import type { StartableRun } from './engine.ts';
import { findRun, readRun, runColumns } from './queries.ts';
import type { Run } from './run.ts';

export interface ManualRun {
  readonly id: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly routineId: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly retryOf: string | null;
}

export interface EnqueuedRun {
  readonly run: Run;
  readonly startable: StartableRun;
}

/**
 * Puts a manual run on record, `queued`, and counts it against the month's allowance, in one statement. Its row is
 * the promise that it will run: whoever reads it next can start the workflow.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `invalid_variable`, `allowance_exceeded`
 */
export async function enqueueManualRun(db: Db, input: ManualRun): Promise<EnqueuedRun> {
  const found = await row<
    { routineState: string; unknown: string[]; timeoutSeconds: number } & (Run | { id: null })
  >(
    db,
    sql`
      with routine as (
        select r.*, array(select jsonb_object_keys(${JSON.stringify(input.variables)}::jsonb)
          except select jsonb_object_keys(r.variables)) as unknown
        from routines r where id = ${input.routineId} and project_id = ${input.projectId}
      ), accepted as (
        select * from routine where state <> 'archived' and cardinality(unknown) = 0
          and not exists (select 1 from runs where id = ${input.id})
      ), allowed as (
        ${takeOneRun(input.organizationId, input.plan, sql`where exists (select 1 from accepted)`)}
      ), run as (
        insert into runs (id, project_id, routine_id, routine_revision, trigger, state, variables, retry_of,
          model_provider, model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens)
        select ${input.id}, project_id, id, revision, 'manual', 'queued', ${JSON.stringify(input.variables)},
          ${input.retryOf}, model_provider, model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens
        from accepted, allowed
        returning ${runColumns}
      )
      select routine.state as "routineState", unknown, timeout_seconds as "timeoutSeconds", run.*
      from routine left join run on true
    `,
  );
  if (found === undefined) throw new AppError('routine_not_found');
  if (found.routineState === 'archived') throw new AppError('routine_archived');
  if (found.unknown.length > 0) {
    const faults = found.unknown.map((name) => ({
      path: `variables.${name}`,
      message: 'the routine has no such variable',
    }));
    throw invalid(faults, 'invalid_variable');
  }
  const { id, projectId, routineId } = input;
  // Not inserted: an earlier attempt of the same request did it, or the month's runs are used up.
  const run = found.id === null ? await findRun(db, projectId, id) : found;
  if (run === undefined) throw runsExceeded(input.plan);
  const { timeoutSeconds } = found;
  return { run, startable: { id, projectId, routineId, trigger: 'manual', timeoutSeconds } };
}

/**
 * A new manual run with the inputs of one that has ended.
 * @throws {AppError} `run_not_found`, `run_not_finished`, and what `enqueueManualRun` throws
 */
export async function retryRun(
  db: Db,
  input: Omit<ManualRun, 'routineId' | 'variables' | 'retryOf'> & { readonly runId: string },
): Promise<EnqueuedRun> {
  const run: Run = await readRun(db, input.projectId, input.runId);
  if (run.state === 'queued' || run.state === 'running') throw new AppError('run_not_finished');
  const { routineId, variables } = run;
  return enqueueManualRun(db, { ...input, routineId, variables, retryOf: run.id });
}
