import type { ModelMessage } from 'ai';
import {
  offeredTools,
  offeredToolsJson,
  type BuiltInToolName,
  type OfferedTool,
  type OfferedToolJson,
} from '#core/tools/index.ts';
import type { OutcomeRule, ResultCheck, ResultForm, Gate } from '#core/routines/index.ts';
import type { ModelReference } from '#core/models/index.ts';
import { hasAudience } from '#core/notifications/index.ts';
import type { SkillRevisions } from '#core/skills/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import {
  type TranscriptStep,
  previousRunJson,
  previousRunOf,
  type PreviousRun,
  type PreviousRunJson,
  asksForData,
  previousDataJson,
  type PreviousData,
} from '#core/prompt/index.ts';
import {
  isFollowed,
  clockGoesOn,
  patienceMsOf,
  remainingMsOf,
  scheduledFor,
  statesBefore,
  type Trigger,
  unwantedReason,
} from '#core/runs/index.ts';
import type { GateVerdict } from '#core/gate/index.ts';

/** A run as its next model step sees it. */
export interface RunContext {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineName: string;
  readonly routineState: string;
  /** Revision of the version that the run executes. */
  readonly revision: number;
  readonly trigger: Trigger;
  readonly scheduledFor: Date | null;
  readonly runAt: Date | null;
  /** The run that this one repeats. */
  readonly retryOf: string | null;
  readonly instructions: string;
  /** The version's variables, overridden by the run's own. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names of those of the run's own that are material and no instructions. */
  readonly fencedVariables: readonly string[];
  readonly skills: readonly string[];
  /** Revisions that its version was activated with, which a run that no person starts takes. */
  readonly activeSkills: SkillRevisions;
  readonly timezone: string;
  readonly model: ModelReference;
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  readonly maxTotalTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly abnormalFactor: number | null;
  readonly budgets: Budgets;
  /** The rendered text, once the first step has recorded it. */
  readonly prompt: string | null;
  /** The briefing, whose text differs in every run; recorded with the prompt. */
  readonly briefing: string | null;
  readonly carryResult: boolean;
  readonly outcomeRule: OutcomeRule;
  readonly checks: readonly ResultCheck[];
  readonly gate: Gate | null;
  /** Verdict of the gate, once the gate was asked and the run goes on. */
  readonly gateVerdict: GateVerdict | null;
  /** Read for the first step only, and where the run is told its previous result. */
  readonly previous: PreviousRun | undefined;
  /** Read for the first step only, and where the instructions ask for it; null where there is none. */
  readonly previousData: PreviousData | null;
  /** Form of its result; null where any text will do. */
  readonly resultForm: ResultForm | null;
  /** Counts the attempts at this step; only the latest may reserve for it. */
  readonly attempt: number;
  /** Milliseconds since the first attempt at this step began. */
  readonly stepAgeMs: number;
  /** Model steps recorded before this one. */
  readonly modelSteps: number;
  readonly totalTokens: number;
  /** US dollars as a decimal string; null while no priced step is on record. */
  readonly costUsd: string | null;
  readonly startedAt: Date;
  /** Milliseconds left of `limits.timeoutSeconds`, by the database's clock; not positive once the time is over. */
  readonly remainingMs: number;
  /** Milliseconds that it may still wait for a budget; not positive once its patience is over. */
  readonly patienceMs: number;
  /** True when its step has waited for a budget and is not granted yet. */
  readonly inLine: boolean;
  readonly cancelRequested: boolean;
  /** Earlier attempts of this step that failed because of the provider. */
  readonly providerFailures: number;
  readonly tools: readonly OfferedTool[];
  /** The messages of the steps recorded before this one, in order, by step and one after the other. */
  readonly transcriptSteps: readonly TranscriptStep[];
  readonly transcript: readonly ModelMessage[];
  /** True when the end of the run is reported: by webhook, mail or ping. */
  readonly hasAudience: boolean;
  /** True when the run had a follower as the step began. */
  readonly followed: boolean;
}

/**
 * Begins a model step in one statement. From its first step on the run is `running`. The attempt is recorded before the
 * model is called, so a call that was paid for and got no response can be seen. Everything that is material comes from
 * the version that the run was made with, even when its routine has changed since.
 * @returns undefined when the run is no longer wanted (`endUnwanted` says why), it has ended, or an earlier attempt
 * recorded this step and its completion was lost
 */
export async function beginStep(
  db: Db,
  runId: string,
  index: number,
  buildId: string | undefined,
): Promise<RunContext | undefined> {
  const tools = offeredToolsJson({
    projectId: sql`begun.project_id`,
    routineId: sql`begun.routine_id`,
    startedAt: sql`begun.started_at`,
  });
  const previous = previousRunJson({
    projectId: sql`begun.project_id`,
    routineId: sql`begun.routine_id`,
  });
  const previousData = previousDataJson({
    projectId: sql`begun.project_id`,
    routineId: sql`begun.routine_id`,
  });
  const found = await row<FoundRun>(
    db,
    sql`
      with begun as (
        update runs set
          state = 'running',
          started_at = coalesce(runs.started_at, now()),
          workflow_started_at = coalesce(runs.workflow_started_at, now()),
          admitted_at = coalesce(runs.admitted_at, now()),
          build_id = ${buildId ?? null}, ${clockGoesOn},
          model_provider = v.model_provider, model_connection_id = v.model_connection_id, model_id = v.model_id
        from routines r, routine_versions v
        where runs.id = ${runId} and r.id = runs.routine_id and runs.state = any(${statesBefore('running')})
          and v.routine_id = runs.routine_id and v.revision = runs.routine_revision and ${unwantedReason} is null
        returning runs.*, r.name as routine_name, r.state as routine_state, v.instructions, v.skills, v.active_skills, r.timezone,
          v.variables as version_variables, v.max_output_tokens, v.abnormal_factor, v.carry_result, v.built_in_tools, v.outcome as outcome_rule,
          v.checks as result_checks, v.gate as version_gate, v.result_schema, v.result_key, ${budgetColumns('r')} as routine_budget,
          (r.webhook_url is not null and r.webhook_failed_at is null) or ${hasAudience(sql`r`)} as has_audience
      ), step as (
        insert into steps (run_id, index, project_id, kind, state, model_id, started_at)
        select id, ${index}, project_id, 'model', 'started', model_id, now() from begun
        on conflict (run_id, index) do update set attempt = steps.attempt + 1 where steps.state = 'started'
        returning state, attempt, started_at, provider_failures
      )
      select begun.id, begun.organization_id as "organizationId", project_id as "projectId",
        routine_id as "routineId", routine_name as "routineName",
        routine_state as "routineState", routine_revision as revision, trigger, ${scheduledFor(sql`begun`)} as "scheduledFor", run_at as "runAt", retry_of as "retryOf", instructions, version_variables || variables as variables,
        array(select given.key from jsonb_each_text(variables) given
          where values_fenced and given.value is distinct from version_variables ->> given.key) as "fencedVariables",
        skills, active_skills as "activeSkills", timezone,
        jsonb_build_object('provider', model_provider, 'connectionId', model_connection_id, 'modelId', model_id)
          as model,
        max_steps as "maxSteps", timeout_seconds as "timeoutSeconds", max_total_tokens as "maxTotalTokens", max_output_tokens as "maxOutputTokens",
        abnormal_factor as "abnormalFactor",
        (select jsonb_build_object('routine', routine_budget, 'project', ${budgetColumns('p')},
            'organization', ${budgetColumns('o')})
          from projects p join organizations o on o.id = p.organization_id where p.id = begun.project_id) as budgets,
        prompt, briefing, carry_result as "carryResult", built_in_tools as "builtInTools",
        outcome_rule as "outcomeRule", result_checks as checks, version_gate as gate, begun.gate as "gateVerdict",
        case when prompt is null and (carry_result or position('previous.' in instructions) > 0) then ${previous} end
          as previous,
        case when prompt is null and ${asksForData(sql`instructions`)} then ${previousData} end as "previousData",
        case when result_schema is not null then json_build_object('schema', result_schema, 'key', result_key) end
          as "resultForm",
        ${remainingMsOf(sql`begun`)} as "remainingMs", ${patienceMsOf(sql`begun`)} as "patienceMs",
        begun.waits_until is not null as "inLine",
        step_count as "modelSteps", input_tokens + output_tokens as "totalTokens", trim_scale(cost_usd)::text as "costUsd", begun.started_at as "startedAt",
        cancel_requested_at is not null as "cancelRequested", has_audience as "hasAudience",
        ${isFollowed(sql`begun.id`)} as followed,
        step.state as "stepState", step.attempt, coalesce(step.provider_failures, 0) as "providerFailures",
        (extract(epoch from now() - step.started_at) * 1000)::float8 as "stepAgeMs", ${tools} as tools,
        (select json_agg(json_build_object('index', s.index, 'messages', s.messages) order by s.index) from steps s
          where s.run_id = begun.id and s.index < ${index} and s.messages is not null) as "transcriptSteps"
      from begun left join step on true
    `,
  );
  if (found === undefined || found.stepState === null) return undefined;
  const { stepState: _, builtInTools, previous: earlier, ...run } = found;
  const transcriptSteps = run.transcriptSteps ?? [];
  return {
    ...run,
    tools: offeredTools(run.tools, {
      builtInTools,
      outcome: run.outcomeRule,
      resultSchema: run.resultForm?.schema ?? null,
    }),
    previous: earlier === null ? undefined : previousRunOf(earlier),
    transcriptSteps,
    transcript: transcriptSteps.flatMap(({ messages }) => messages),
  };
}

type FoundRun = Omit<RunContext, 'tools' | 'transcriptSteps' | 'transcript' | 'previous'> & {
  readonly stepState: string | null;
  readonly tools: readonly OfferedToolJson[];
  readonly builtInTools: readonly BuiltInToolName[];
  readonly previous: PreviousRunJson | null;
  readonly transcriptSteps: readonly TranscriptStep[] | null;
};
