import type { ModelMessage } from 'ai';
import {
  offeredTools,
  offeredToolsJson,
  type OfferedTool,
  type OfferedToolJson,
} from '#core/connections/index.ts';
import type { ModelReference } from '#core/models/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { statesBefore, type RunState, type Trigger } from './states.ts';

/** What a model step needs to know of its run. */
export interface RunContext {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineName: string;
  readonly routineState: string;
  readonly trigger: Trigger;
  readonly instructions: string;
  /** The routine's variables with the run's own over them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly skills: readonly string[];
  readonly timezone: string;
  readonly model: ModelReference;
  readonly maxSteps: number;
  readonly maxTotalTokens: number | null;
  readonly maxTokensPerDay: number | null;
  readonly maxCostUsdPerMonth: string | null;
  /** The rendered text, once the first step has made it. */
  readonly prompt: string | null;
  /** Recorded before this one. */
  readonly modelSteps: number;
  readonly totalTokens: number;
  readonly startedAt: Date;
  readonly cancelRequested: boolean;
  readonly tools: readonly OfferedTool[];
  /** The messages of the steps recorded before this one, in order. */
  readonly transcript: readonly ModelMessage[];
  /** Whether the end of the run is to be delivered to somebody. */
  readonly hasWebhook: boolean;
}

export type BegunStep =
  /** The run is over; there is nothing to do. */
  | { readonly kind: 'ended'; readonly state: RunState }
  /** An earlier attempt recorded this step and its completion was lost on the way. */
  | { readonly kind: 'recorded' }
  | { readonly kind: 'begun'; readonly run: RunContext };

/**
 * Begins a model step in one statement: the run is `running` from its first step on, and the attempt is on record
 * before the model is called, so that a call that is paid for and never answered can be told. Until the prompt is
 * rendered the run follows the routine as it is; from then on it keeps the revision it was rendered from.
 */
export async function beginStep(db: Db, runId: string, index: number): Promise<BegunStep> {
  const tools = offeredToolsJson({
    projectId: sql`begun.project_id`,
    routineId: sql`begun.routine_id`,
    startedAt: sql`begun.started_at`,
  });
  const found = await row<FoundRun>(
    db,
    sql`
      with begun as (
        update runs set
          state = 'running',
          started_at = coalesce(runs.started_at, now()),
          workflow_started_at = coalesce(runs.workflow_started_at, now()),
          routine_revision = case when prompt is null then r.revision else routine_revision end,
          model_provider = case when prompt is null then r.model_provider else runs.model_provider end,
          model_connection_id = case when prompt is null then r.model_connection_id else runs.model_connection_id end,
          model_id = case when prompt is null then r.model_id else runs.model_id end
        from routines r
        where runs.id = ${runId} and r.id = runs.routine_id and runs.state = any(${statesBefore('running')})
        returning runs.*, r.name as routine_name, r.state as routine_state, r.instructions, r.skills, r.timezone,
          r.variables as routine_variables, r.max_tokens_per_day, r.max_cost_usd_per_month,
          r.webhook_url is not null and r.webhook_failed_at is null as has_webhook
      ), step as (
        insert into steps (run_id, index, project_id, kind, state, model_id, started_at)
        select id, ${index}, project_id, 'model', 'started', model_id, now() from begun
        on conflict (run_id, index) do update set attempt = steps.attempt + 1 where steps.state = 'started'
        returning state
      )
      select begun.id, project_id as "projectId", routine_id as "routineId", routine_name as "routineName",
        routine_state as "routineState", trigger, instructions, routine_variables || variables as variables,
        skills, timezone,
        jsonb_build_object('provider', model_provider, 'connectionId', model_connection_id, 'modelId', model_id)
          as model,
        max_steps as "maxSteps", max_total_tokens as "maxTotalTokens", max_tokens_per_day as "maxTokensPerDay",
        max_cost_usd_per_month::text as "maxCostUsdPerMonth", prompt,
        step_count as "modelSteps", input_tokens + output_tokens as "totalTokens", started_at as "startedAt",
        cancel_requested_at is not null as "cancelRequested", has_webhook as "hasWebhook",
        step.state as "stepState", ${tools} as tools,
        (select json_agg(s.messages order by s.index) from steps s
          where s.run_id = begun.id and s.index < ${index} and s.messages is not null) as messages
      from begun left join step on true
    `,
  );
  if (found === undefined) {
    const ended = await row<{ state: RunState }>(
      db,
      sql`select state from runs where id = ${runId}`,
    );
    return { kind: 'ended', state: ended?.state ?? 'failed' };
  }
  const { stepState, messages, ...run } = found;
  if (stepState === null) return { kind: 'recorded' };
  const transcript = messages?.flat() ?? [];
  return { kind: 'begun', run: { ...run, tools: offeredTools(run.tools), transcript } };
}

type FoundRun = Omit<RunContext, 'tools' | 'transcript'> & {
  readonly stepState: string | null;
  readonly tools: readonly OfferedToolJson[];
  readonly messages: readonly (readonly ModelMessage[])[] | null;
};
