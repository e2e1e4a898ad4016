import { join, row, rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { firstIdAt } from '#lib/ids.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { listDeliveries } from '#core/webhooks/index.ts';
import type { Run, RunDetail, Step } from './run.ts';
import type { RunState, Trigger } from './states.ts';

const usage = sql`jsonb_build_object('inputTokens', input_tokens, 'cachedInputTokens', cached_input_tokens,
  'outputTokens', output_tokens, 'reasoningTokens', reasoning_tokens, 'costUsd', trim_scale(cost_usd)::text) as usage`;

/** A run as `Run` has it. */
export const runColumns = sql`
  id, project_id as "projectId", routine_id as "routineId", routine_revision as "routineRevision", trigger, state,
  reason, error_message as "errorMessage", scheduled_for as "scheduledFor", skipped_count as "skippedCount",
  skipped_until as "skippedUntil", variables, retry_of as "retryOf",
  case when model_id is not null then jsonb_build_object('provider', model_provider,
    'connectionId', model_connection_id, 'modelId', model_id) end as model,
  result, step_count as "stepCount", ${usage}, created_at as "createdAt", started_at as "startedAt",
  finished_at as "finishedAt", cancel_requested_at as "cancelRequestedAt"
`;

export interface RunFilter {
  readonly routineId: string | undefined;
  readonly state: RunState | undefined;
  readonly trigger: Trigger | undefined;
  /** Bounds of `createdAt`: from `since` on, before `until`. */
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly page: Page;
}

export function listRuns(db: Db, projectId: string, filter: RunFilter): Promise<Run[]> {
  const conditions = [
    sql`project_id = ${projectId}`,
    ...(filter.routineId === undefined ? [] : [sql`routine_id = ${filter.routineId}`]),
    ...(filter.state === undefined ? [] : [sql`state = ${filter.state}`]),
    ...(filter.trigger === undefined ? [] : [BY_TRIGGER[filter.trigger]]),
    ...(filter.since === undefined ? [] : [createdFrom(filter.since)]),
    ...(filter.until === undefined ? [] : [createdBefore(filter.until)]),
  ];
  return rows<Run>(
    db,
    sql`
      select ${runColumns} from runs
      where ${join(conditions, ' and ')} ${afterCursor(filter.page)}
      order by id desc limit ${filter.page.limit + 1}
    `,
  );
}

/** Written out and not parameters, so that the few manual runs among many are read from their own index. */
const BY_TRIGGER = { manual: sql`trigger = 'manual'`, schedule: sql`trigger = 'schedule'` };

/**
 * The bounds of time are bounds of the id as well, so that the index in which a page is read ends there (a window a
 * week back, of a million runs: 170 ms without, 3 ms with). An id is made up to a day before its row, under a repeated
 * `Idempotency-Key`, and by another clock, which may be a little ahead.
 */
function createdFrom(since: Date): Sql {
  const earliest = firstIdAt('run', new Date(since.getTime() - 25 * 3_600_000));
  return sql`created_at >= ${since} and id >= ${earliest}`;
}

function createdBefore(until: Date): Sql {
  const latest = firstIdAt('run', new Date(until.getTime() + 10 * 60_000));
  return sql`created_at < ${until} and id < ${latest}`;
}

export function findRun(db: Db, projectId: string, id: string): Promise<Run | undefined> {
  return row<Run>(
    db,
    sql`select ${runColumns} from runs where id = ${id} and project_id = ${projectId}`,
  );
}

/** @throws {AppError} `run_not_found` */
export async function readRun(db: Db, projectId: string, id: string): Promise<Run> {
  const run = await findRun(db, projectId, id);
  if (run === undefined) throw new AppError('run_not_found');
  return run;
}

/** The run with its steps and webhook deliveries. @throws {AppError} `run_not_found` */
export async function readRunDetail(db: Db, projectId: string, id: string): Promise<RunDetail> {
  const run = await row<Run & { prompt: string | null }>(
    db,
    sql`select ${runColumns}, prompt from runs where id = ${id} and project_id = ${projectId}`,
  );
  if (run === undefined) throw new AppError('run_not_found');
  const [steps, deliveries] = [
    await listSteps(db, projectId, id, -1),
    await listDeliveries(db, id),
  ];
  return { ...run, steps, deliveries };
}

/** The steps after `afterIndex`, in order. */
export function listSteps(
  db: Db,
  projectId: string,
  runId: string,
  afterIndex: number,
): Promise<Step[]> {
  return rows<Step>(
    db,
    sql`
      select index, kind, state, attempt, model_id as "modelId", text, finish_reason as "finishReason",
        error_message as "errorMessage", tool, ${usage}, started_at as "startedAt", finished_at as "finishedAt"
      from steps where run_id = ${runId} and project_id = ${projectId} and index > ${afterIndex}
      order by index
    `,
  );
}
