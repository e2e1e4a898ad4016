import { authorJson, type Author } from '#core/foundation/audit/index.ts';
import type { GateVerdict } from '#core/execution/gate/index.ts';
import type { Usage } from '#core/foundation/cost/index.ts';
import type { ComparedResult, RunOutcome } from '#core/authoring/outcomes/index.ts';
import type { ToolRecord } from '#core/integrations/tools/index.ts';
import type { RunMessage } from '#core/foundation/outbox/index.ts';
import type { ChatDelivery } from '#core/delivery/chats/index.ts';
import type { Delivery } from '#core/delivery/webhooks/index.ts';
import type { Definition } from '#core/authoring/definition/index.ts';
import { SCHEDULE_ENDED } from '#core/authoring/routines/index.ts';
import { notBeforeOf } from '#core/models/connections/index.ts';
import type { Spent } from '#core/usage/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import type { Wait } from '#core/execution/admission/index.ts';
import type {
  RunState,
  StepKind,
  StepState,
  StepWarning,
  Trigger,
  Withheld,
} from '#core/execution/run-states/index.ts';

export interface RunUsage extends Usage {
  /** Cost in US dollars as a decimal string; null while no priced step is recorded. */
  readonly costUsd: string | null;
}

export interface RunVerdict {
  readonly useful: boolean;
  /** Note of the reader; null without a note, and once it is erased. */
  readonly note: string | null;
  /** The person or key that gave the opinion last; null once deleted. */
  readonly by: Author | null;
  readonly at: string;
}

export interface Run extends RunOutcome {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineRevision: number;
  readonly trigger: Trigger;
  readonly state: RunState;
  readonly reason: string | null;
  readonly errorMessage: string | null;
  /** Scheduled time of the run, past or present; a retry has the time of the run that it repeats. */
  readonly scheduledFor: Date | null;
  /** Requested time, before which the run does not start. */
  readonly runAt: Date | null;
  /** Id of the backfill that created the run. */
  readonly backfillId: string | null;
  /** Number of occurrences that a `skipped` row covers, and the instant of the last one. */
  readonly skippedCount: number | null;
  readonly skippedUntil: Date | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly retryOf: string | null;
  /** The run that began the thread of a follow-up. */
  readonly followsUp: string | null;
  /** The opinion of a reader about the result; null until a reader gives one. */
  readonly verdict: RunVerdict | null;
  readonly model: {
    readonly provider: string;
    readonly connectionId: string | null;
    readonly modelId: string;
  } | null;
  readonly result: string | null;
  /** The question of a follow-up; null for every other run, and once it is erased. */
  readonly message: string | null;
  /** True when the values or the question came from a caller who may not write routines. */
  readonly valuesFenced: boolean;
  /** Data of the result in the form of the version's `resultSchema`; null without a schema. */
  readonly data: unknown;
  /** The comparison of the data with earlier data; null without data. */
  readonly changes: ComparedResult | null;
  /** The reason why no webhook got an event about the end of the run; null when no event was withheld. */
  readonly withheld: Withheld | null;
  readonly stepCount: number;
  readonly usage: RunUsage;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  /** True when the run is kept beyond the retention of its project. */
  readonly pinned: boolean;
  /** Time at which the texts and variables were erased. */
  readonly contentErasedAt: Date | null;
}

/** A run as lists show it: without its long texts. */
export interface RunSummary extends Omit<
  Run,
  'result' | 'message' | 'valuesFenced' | 'variables' | 'data' | 'changes'
> {
  readonly routineName: string;
  readonly changes: Pick<ComparedResult, 'against' | 'unchangedRuns' | 'counts'> | null;
  /** The beginning of the result. */
  readonly resultPreview: string | null;
}

export interface Step {
  readonly index: number;
  readonly kind: StepKind;
  readonly state: StepState;
  /** Number of the attempt. Above 1, the provider may have billed an earlier attempt that was never recorded. */
  readonly attempt: number;
  readonly modelId: string | null;
  readonly text: string | null;
  /** Thinking that was taken out of the text. */
  readonly thinking: string | null;
  /** The model server's finish reason; without a recorded response, the finish reason of the last rejected response. */
  readonly finishReason: string | null;
  readonly errorMessage: string | null;
  /** The tool call of the step; null on a model step. */
  readonly tool: ToolRecord | null;
  readonly warnings: readonly StepWarning[];
  readonly usage: RunUsage;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** Ids of other runs of the same routine, for links from the page of a run; each null without such a run. */
export interface Nearby {
  /** The newest earlier run that succeeded, or failed with a result. */
  readonly previousResultId: string | null;
  readonly nextResultId: string | null;
  /** The newest earlier run that succeeded. */
  readonly lastGoodRunId: string | null;
}

export interface RunDetail extends Run, Nearby {
  readonly routineName: string;
  readonly prompt: string | null;
  readonly briefing: string | null;
  /** The version of the project's facts that the run got; null for none. */
  readonly factsVersion: number | null;
  /** Verdict of the gate; null for a run that asked no gate. */
  readonly gate: GateVerdict | null;
  /**
   * Seconds that the run waited until its first step or its end, or has waited until now; null for a skipped
   * occurrence.
   */
  readonly queuedSeconds: number | null;
  /** The reason why the run waits; null when it does not wait. */
  readonly waitingFor: Wait | null;
  /** Schema of the data; null without data, and once the version is deleted. */
  readonly resultSchema: Definition['resultSchema'];
  readonly steps: readonly Step[];
  /** Index of the first step without its texts; null when all have them. */
  readonly textsLeftOutFrom: number | null;
  readonly deliveries: readonly Delivery[];
  readonly chatDeliveries: readonly ChatDelivery[];
  /** Mails and pings about the run. */
  readonly messages: readonly RunMessage[];
  /** Questions about the result, in order. */
  readonly followUps: readonly Answer[];
}

/** A follow-up in the thread of the run that it asks about. */
export interface Answer {
  readonly id: string;
  readonly message: string | null;
  readonly state: RunState;
  readonly errorMessage: string | null;
  readonly result: string | null;
  readonly createdAt: Date;
}

/** Returns the scheduled instant of a run; runs of a backfill have it in a separate column. */
export function scheduledFor(run: Sql): Sql {
  return sql`coalesce(${run}.scheduled_for, ${run}.stands_for)`;
}

/** Selects the fields of `RunOutcome` from `runs`. A success without an outcome counts as `done`. */
export const runOutcome = sql`
  coalesce(outcome, case when state = 'succeeded' then 'done' end) as outcome, outcome_summary as "outcomeSummary",
  urgency as "statedUrgency",
  coalesce(checks, '[]') as checks, warnings
`;

/** The columns of a run without its long texts. */
export const shortColumns = sql`
  id, project_id as "projectId", routine_id as "routineId", routine_revision as "routineRevision", trigger, state,
  reason, error_message as "errorMessage", ${scheduledFor(sql`runs`)} as "scheduledFor", run_at as "runAt",
  backfill_id as "backfillId", skipped_count as "skippedCount", skipped_until as "skippedUntil", retry_of as "retryOf",
  case when model_id is not null then jsonb_build_object('provider', model_provider,
    'connectionId', model_connection_id, 'modelId', model_id) end as model,
  step_count as "stepCount", ${runOutcome}, ${usageWith(sql`estimated_usage`)},
  created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt",
  cancel_requested_at as "cancelRequestedAt", pinned,
  content_erased_at as "contentErasedAt", withheld, follows_up as "followsUp",
  case when verdict is not null then verdict || jsonb_build_object('by', ${authorJson({
    createdBy: sql`(verdict->>'by')`,
    projectId: sql`runs.project_id`,
  })}) end as verdict
`;

/** The run whose data was compared, and the number of unchanged runs since. */
export const comparedWith = sql`jsonb_build_object('against', compared_with, 'unchangedRuns', unchanged_runs)`;

export const runColumns = sql`${shortColumns}, variables, result, message,
  values_fenced as "valuesFenced", data,
  case when changes is not null then changes || ${comparedWith} end as changes`;

export const stepColumns = columns(sql`text, tool, messages #>> '{0,providerOptions,kept,thinking}' as thinking`);

/** Columns of a step with the lengths of the texts of models and tools, without the texts. */
export const stepColumnsWithout = columns(sql`null as text, null as thinking,
  case when tool is not null then tool - 'input'
    || '{"arguments": null, "result": null, "structured": null, "attachments": []}'::jsonb end as tool`);

function columns(texts: Sql): Sql {
  return sql`
  index, kind, state, attempt, model_id as "modelId", ${texts},
  coalesce(finish_reason, failed_finish_reason) as "finishReason", error_message as "errorMessage",
  coalesce(warnings, '[]') as warnings, ${usageWith(sql`usage_estimated`)},
  started_at as "startedAt", finished_at as "finishedAt"
`;
}

function usageWith(estimated: Sql): Sql {
  return sql`jsonb_build_object('inputTokens', input_tokens, 'cachedInputTokens', cached_input_tokens,
  'outputTokens', output_tokens, 'reasoningTokens', reasoning_tokens, 'costUsd', trim_scale(cost_usd)::text,
  'estimated', ${estimated}) as usage`;
}

/** The clock of a run, as pieces of SQL. It starts with the first step and stops while the run waits for a budget. */
export const runClock = {
  /** Returns the milliseconds that the run has left; not positive once its time is over. */
  remainingMs: (run: Sql) =>
    sql`((${run}.timeout_seconds - extract(epoch from ${stoppedAt(run)} - ${run}.started_at)) * 1000
    + ${run}.waited_ms)::float8`,
  /** Returns the milliseconds left to wait: all waits together may last as long as the wait for the first step. */
  patienceMs: (
    run: Sql,
  ) => sql`(extract(epoch from coalesce(${run}.queue_until - coalesce(${run}.run_at, ${run}.created_at),
    interval '6 hours')) * 1000 - ${run}.waited_ms
    - extract(epoch from now() - ${stoppedAt(run)}) * 1000)::float8`,
  /** Assignments for an update of `runs` that start the clock again. */
  goesOn: sql`waited_ms = runs.waited_ms
            + coalesce((extract(epoch from now() - runs.waits_since) * 1000)::bigint, 0), waits_since = null`,
};

function stoppedAt(run: Sql): Sql {
  return sql`coalesce(${run}.waits_since, now())`;
}

/**
 * Adds the usage of a call, as assignments for an update of `runs` or `steps`: to `input_tokens`,
 * `cached_input_tokens`, `output_tokens`, `reasoning_tokens` and `cost_usd`.
 * @param estimated the column that tells whether any usage was estimated
 */
export function addUsage({ usage, costUsd }: Spent, estimated: Sql): Sql {
  return sql`input_tokens = input_tokens + ${usage.inputTokens},
        cached_input_tokens = cached_input_tokens + ${usage.cachedInputTokens},
        output_tokens = output_tokens + ${usage.outputTokens},
        reasoning_tokens = reasoning_tokens + ${usage.reasoningTokens},
        cost_usd = case when ${costUsd}::numeric is null then cost_usd
          else coalesce(cost_usd, 0) + ${costUsd}::numeric end,
        ${estimated} = ${estimated} or ${usage.estimated}`;
}

/**
 * Selects the reason why a run that has not begun is no longer wanted; null when it is wanted. Reads `runs`, and its
 * routine as `r`. A scheduled run is wanted while its version is the proven version of an active routine; a manual run
 * keeps its version from the start.
 */
export const unwantedReason = sql`case
  when runs.state <> 'queued' then null
  when r.state = 'archived' then 'archived'
  when runs.trigger <> 'schedule' then null
  when r.revision <> runs.routine_revision then 'superseded'
  -- An occurrence that fell due inside the window still runs after its end.
  when r.state <> 'active' and (r.state, r.state_reason) is distinct from ('paused', ${SCHEDULE_ENDED}) then 'paused'
  -- The allowance was used up after the occurrence was claimed; later ones are skipped before.
  when runs.model_connection_id is not null and ${notBeforeOf(sql`runs.model_connection_id`)} > now()
    then 'provider_unavailable'
end`;
