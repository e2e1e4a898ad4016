import { runsExceeded, takeOneRun } from '#core/accounts/billing/index.ts';
import { sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { disabledProviders, startManualRun, type ManualRun, type StartDeps } from './enqueue.ts';
import { assertEndedWithContent, assertHasResult, findRun, readRun } from './queries.ts';
import { runColumns, type Run } from './run.ts';

export interface AskedFollowUp extends Pick<ManualRun, 'id' | 'projectId' | 'organizationId' | 'plan' | 'startedBy'> {
  /** The run whose result is asked about, or an earlier follow-up to that run. */
  readonly runId: string;
  readonly message: string;
  /** True when the caller may not write routines: the message is then data and not an instruction. */
  readonly fenced: boolean;
}

/**
 * Queues a run that answers a question about a result, with the version, the prompt and the limits of the run that has
 * the result, and counts it against the month's allowance. All questions of a thread belong to the run that began it.
 * @throws {AppError} `run_not_found`, `run_not_finished`, `content_erased`, `run_without_result`, `routine_archived`,
 * `version_not_found`, `provider_disabled`, `allowance_exceeded`
 */
export async function startFollowUp(deps: StartDeps, input: AskedFollowUp): Promise<Run> {
  const { database: db } = deps;
  const { id, projectId, organizationId } = input;
  const asked = await readRun(db, projectId, input.runId);
  const began = asked.followsUp === null ? asked : await readRun(db, projectId, asked.followsUp);
  assertHasResult(asked);
  assertHasResult(began);
  const found = await db.row<Found & (Run | { id: null })>`
    with began as (
      select runs.*, r.state as routine_state, r.max_queue_seconds, v.revision is not null as has_version,
        runs.model_provider = any(${disabledProviders(deps)}::text[]) as disabled
      from runs join routines r on r.id = runs.routine_id and r.project_id = runs.project_id
      left join routine_versions v on v.routine_id = runs.routine_id and v.revision = runs.routine_revision
      where runs.id = ${began.id} and runs.project_id = ${projectId}
    ), accepted as (
      select * from began where routine_state <> 'archived' and has_version and prompt is not null
        and disabled is not true and not exists (select from runs where id = ${id})
    ), allowed as (
      ${takeOneRun(organizationId, input.plan, sql`where exists (select 1 from accepted)`)}
    ), run as (
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, follows_up,
        message, values_fenced, variables, prompt, skill_revisions, facts_version, model_provider, model_connection_id,
        model_id, max_steps, timeout_seconds, max_total_tokens, queue_until, proves, started_by)
      select ${id}, organization_id, project_id, routine_id, routine_revision, 'follow_up', 'queued', accepted.id,
        ${input.message}, ${input.fenced}, variables, prompt, skill_revisions, facts_version, model_provider,
        model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens,
        now() + max_queue_seconds * interval '1 second', false, ${input.startedBy}
      from accepted, allowed
      returning ${runColumns}
    )
    select began.routine_state as "routineState", began.has_version as "hasVersion",
      began.prompt is not null as "hasPrompt", coalesce(began.disabled, false) as disabled, run.*
    from began left join run on true
  `;
  if (found === undefined) throw new AppError('run_not_found');
  // If no run was inserted, an earlier attempt of this request inserted it, or an obstacle refuses the run.
  const run = found.id === null ? await findRun(db, projectId, id) : found;
  if (run === undefined) throw refusalOf(found) ?? (await runsExceeded(db, input));
  deps.admission.nudge();
  return run;
}

/** Obstacles to a follow-up that the statement finds. */
interface Found {
  readonly routineState: string;
  readonly hasVersion: boolean;
  readonly hasPrompt: boolean;
  readonly disabled: boolean;
}

function refusalOf({ routineState, hasVersion, hasPrompt, disabled }: Found): AppError | undefined {
  if (routineState === 'archived') return new AppError('routine_archived');
  if (!hasVersion) return new AppError('version_not_found');
  if (!hasPrompt) return new AppError('run_without_result');
  return disabled ? new AppError('provider_disabled') : undefined;
}

/**
 * Starts a run with the inputs of an ended run. A repeated rehearsal is a rehearsal; a repeated follow-up asks again.
 * @throws {AppError} `run_not_found`, `run_not_finished`, `content_erased` when its inputs are gone, and the errors of
 * `startManualRun` and `startFollowUp`
 */
export async function retryRun(deps: StartDeps, input: Omit<AskedFollowUp, 'message' | 'fenced'>): Promise<Run> {
  const run = await readRun(deps.database, input.projectId, input.runId);
  assertEndedWithContent(run);
  const { message, followsUp, routineId, variables, scheduledFor: standsFor } = run;
  const rehearses = run.trigger === 'rehearsal';
  if (message !== null && followsUp !== null) {
    return startFollowUp(deps, { ...input, runId: followsUp, message, fenced: run.valuesFenced });
  }
  // `false` fences no further values: values that were fenced in the repeated run stay fenced.
  const again = { routineId, variables, valuesFenced: false, retryOf: run.id, standsFor, rehearses };
  return startManualRun(deps, { ...input, ...again });
}
