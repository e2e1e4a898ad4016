import type { ModelMessage } from 'ai';
import {
  offeredTools,
  offeredToolsJson,
  type OfferedTool,
  type OfferedToolJson,
} from '#core/integrations/tools/index.ts';
import { definitionForm, type Definition, type StoredDefinition } from '#core/authoring/definition/index.ts';
import { actionsInWords, asksForActions, toldActionsJson, type ToldAction } from '#core/execution/actions/index.ts';
import { toldFactsJson } from '#core/authoring/facts/index.ts';
import { toldQuestionsJson } from '#core/execution/questions/index.ts';
import type { SkillRevisions } from '#core/authoring/skills/index.ts';
import { budgetColumns, type Attempt, type Budgets } from '#core/usage/index.ts';
import type { FollowUp, PreviousRun, PromptRun, ToldQuestion, TranscriptStep } from '#core/execution/prompt/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { runClock, scheduledFor, unwantedReason } from '#core/execution/runs/index.ts';
import { runStatesBefore } from '#core/execution/run-states/index.ts';
import type { GateVerdict } from '#core/execution/gate/index.ts';
import { ownedBy, sql, type Db, type Sql } from '#lib/database/index.ts';

/** The input of a model step; a preview has the input of a run that is never made. */
export interface StepRun
  extends PromptRun, Attempt, Omit<Definition, keyof PromptRun | 'outcome' | 'limits' | 'resultSchema' | 'resultKey'> {
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  /** Revision of the version that the run executes. */
  readonly revision: number;
  readonly routineState: string;
  /** Names the field of the definition that this release cannot read; null if it can read all fields. */
  readonly blocked: string | null;
  readonly abnormalFactor: number | null;
  /** Skill revisions that the activation of the routine fixed; runs that no person starts use them. */
  readonly activeSkills: SkillRevisions;
  readonly tools: readonly OfferedTool[];
  /** The rendered text, once the first step has recorded it. Later steps no longer read its sources. */
  readonly prompt: string | null;
  /** The briefing, whose text differs in every run; recorded with the prompt. */
  readonly briefing: string | null;
  /** The question of a follow-up, until its briefing is recorded; null for every other run. */
  readonly followUp: FollowUp | null;
  /** Verdict of the gate, once the gate was asked and the run continues. */
  readonly gateVerdict: GateVerdict | null;
  readonly budgets: Budgets;
  /** Number of model steps recorded before this step. */
  readonly modelSteps: number;
  /** Milliseconds since the first attempt at this step began. */
  readonly stepAgeMs: number;
  readonly totalTokens: number;
  /** Cost of the run so far in US dollars, as a decimal string; null while no priced step is recorded. */
  readonly costUsd: string | null;
  /** Milliseconds left of `limits.timeoutSeconds`, by the database's clock; not positive once the time is over. */
  readonly remainingMs: number;
  /** Milliseconds that the step may still wait for a budget or a sign-in; zero or less when that time has passed. */
  readonly patienceMs: number;
  /** True when the step has waited for a budget that is not granted yet. */
  readonly inLine: boolean;
  readonly cancelRequested: boolean;
  /** Earlier attempts of this step that failed because of the provider. */
  readonly providerFailures: number;
  /** The messages of the earlier steps in order, by step; `transcript` has all of them in one list. */
  readonly transcriptSteps: readonly TranscriptStep[];
  readonly transcript: readonly ModelMessage[];
  /** True when a program gets news of the end of the run. */
  readonly hasWebhook: boolean;
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
): Promise<StepRun | undefined> {
  const keys = { projectId: sql`begun.project_id`, routineId: sql`begun.routine_id` };
  const facts = toldFactsJson({ ...keys, trigger: sql`begun.trigger`, activeFacts: sql`begun.active_facts` });
  const found = await db.row<FoundRun>`
    with begun as (
      update runs set
        state = 'running',
        started_at = coalesce(runs.started_at, now()),
        workflow_started_at = coalesce(runs.workflow_started_at, now()),
        admitted_at = coalesce(runs.admitted_at, now()),
        build_id = ${buildId ?? null}, ${runClock.goesOn},
        model_provider = v.definition #>> '{model,provider}',
        model_connection_id = v.definition #>> '{model,connectionId}', model_id = v.definition #>> '{model,modelId}'
      from routines r, routine_versions v
      where runs.id = ${runId} and r.id = runs.routine_id and runs.state = any(${runStatesBefore('running')})
        and v.routine_id = runs.routine_id and v.revision = runs.routine_revision and ${unwantedReason} is null
      returning runs.*, r.name as routine_name, r.state as routine_state, r.timezone, v.definition, v.active_skills,
      v.active_facts,
        ${budgetColumns('r')} as routine_budget, r.webhook_url is not null and r.webhook_failed_at is null as has_webhook
    ), step as (
      insert into steps (run_id, index, project_id, kind, state, model_id, started_at)
      select id, ${index}, project_id, 'model', 'started', model_id, now() from begun
      on conflict (run_id, index) do update set attempt = steps.attempt + 1 where steps.state = 'started'
      returning state, attempt, started_at, provider_failures
    )
    select begun.id as "runId", begun.organization_id as "organizationId", project_id as "projectId",
      routine_id as "routineId", routine_name as "routineName",
      routine_state as "routineState", routine_revision as revision, trigger,
      ${scheduledFor(sql`begun`)} as "scheduledFor", run_at as "runAt", retry_of as "retryOf", definition,
      variables as given, values_fenced as "valuesFenced", active_skills as "activeSkills", timezone,
      max_steps as "maxSteps", timeout_seconds as "timeoutSeconds", max_total_tokens as "maxTotalTokens",
      (select jsonb_build_object('routine', routine_budget, 'project', ${budgetColumns('p')},
          'organization', ${budgetColumns('o')})
        from projects p join organizations o on o.id = p.organization_id where p.id = begun.project_id) as budgets,
      case when briefing is null and begun.follows_up is not null then ${followUpJson(sql`begun`)} end as "followUp",
      prompt, briefing, begun.gate as "gateVerdict",
      case when prompt is null and (definition ->> 'carryResult' is distinct from 'false'
        or position('previous.' in definition ->> 'instructions') > 0) then ${previousRunJson(keys)} end as previous,
      case when prompt is null and ${asksForData(sql`definition ->> 'instructions'`)} then ${previousDataJson(keys)} end
        as "previousData",
      case when prompt is null and definition ->> 'facts' = 'true' then ${facts} end as "toldFacts",
      case when prompt is null and ${asksForActions(sql`definition ->> 'instructions'`)} then ${toldActionsJson(keys)} end
        as "toldActions",
      case when prompt is null and ${tellsQuestions(sql`definition`)} then ${toldQuestionsJson(keys)} end
        as "toldQuestions",
      ${runClock.remainingMs(sql`begun`)} as "remainingMs", ${runClock.patienceMs(sql`begun`)} as "patienceMs",
      begun.waits_until is not null as "inLine",
      step_count as "modelSteps", input_tokens + output_tokens as "totalTokens",
      trim_scale(cost_usd)::text as "costUsd", begun.started_at as "startedAt",
      cancel_requested_at is not null as "cancelRequested", has_webhook as "hasWebhook",
      step.state as "stepState", step.attempt, coalesce(step.provider_failures, 0) as "providerFailures",
      (extract(epoch from now() - step.started_at) * 1000)::float8 as "stepAgeMs",
      ${offeredToolsJson({ ...keys, startedAt: sql`begun.started_at` })} as tools,
      (select json_agg(json_build_object('index', s.index, 'messages', s.messages) order by s.index) from steps s
        where s.run_id = begun.id and s.index < ${index} and s.messages is not null) as "transcriptSteps"
    from begun left join step on true
  `;
  if (found === undefined || found.stepState === null) return undefined;
  const {
    stepState: _,
    definition,
    given,
    valuesFenced,
    previous: earlier,
    toldActions: told,
    toldQuestions,
    ...run
  } = found;
  const transcriptSteps = run.transcriptSteps ?? [];
  const read = definitionForm.read(definition);
  const defined = run.trigger === 'follow_up' ? { ...read, value: { ...read.value, ...AS_TEXT } } : read;
  return {
    ...run,
    index,
    ...definedFields(defined, given, valuesFenced),
    tools: offeredTools(run.tools, defined.value),
    questions: toldQuestions ?? [],
    previous: earlier === null ? undefined : previousRunOf(earlier),
    toldActions: told && actionsInWords(told),
    transcriptSteps,
    transcript: transcriptSteps.flatMap(({ messages }) => messages),
  };
}

/** Fields of a definition for a follow-up: it may return any text, and asks no questions. */
const AS_TEXT = { outcome: 'optional', checks: [], resultSchema: null, resultKey: null, mayAsk: false } as const;

/** Returns the fields of a run that come from its definition, with the values given for its variables. */
export function definedFields(
  { value, blocked }: StoredDefinition<Definition>,
  given: Readonly<Record<string, string>>,
  valuesFenced: boolean,
) {
  const { outcome, limits, resultSchema, resultKey, variables, ...fields } = value;
  const other = Object.keys(given).filter((name) => given[name] !== variables[name]);
  return {
    ...fields,
    blocked,
    variables: { ...variables, ...given },
    fencedVariables: valuesFenced ? other : [],
    outcomeRule: outcome,
    resultForm: resultSchema && { schema: resultSchema, key: resultKey },
    maxOutputTokens: limits.maxOutputTokens,
    abnormalFactor: limits.abnormalFactor,
    told: definitionForm.told(value),
  };
}

/** A run as the statement reads it, before its JSON is parsed. */
interface FoundRun extends Omit<
  StepRun,
  | keyof ReturnType<typeof definedFields>
  | 'index'
  | 'tools'
  | 'transcriptSteps'
  | 'transcript'
  | 'previous'
  | 'toldActions'
  | 'questions'
> {
  readonly stepState: string | null;
  readonly definition: unknown;
  readonly given: Readonly<Record<string, string>>;
  readonly valuesFenced: boolean;
  readonly tools: readonly OfferedToolJson[];
  readonly previous: PreviousRunJson | null;
  readonly toldActions: readonly ToldAction[] | null;
  readonly toldQuestions: readonly ToldQuestion[] | null;
  readonly transcriptSteps: readonly TranscriptStep[] | null;
}

/** Tells whether a run continues: it is running, is not cancelled, and has time left. */
export async function isStillWanted(db: Db, runId: string): Promise<boolean> {
  const run = await db.row<{ wanted: boolean }>`
    select state = 'running' and cancel_requested_at is null and ${runClock.remainingMs(sql`runs`)} > 0 as wanted
    from runs where id = ${runId}
  `;
  return run?.wanted === true;
}

/** SQL condition: the run continues, and its model step has no response yet. */
export function isAwaited({ runId, index }: { readonly runId: string; readonly index: number }): Sql {
  return sql`exists (
    select from runs join steps on steps.run_id = runs.id and steps.index = ${index}
    where runs.id = ${runId} and runs.state = 'running' and steps.state = 'started')`;
}

/** Ids of a routine and its project, as expressions of the statement that reads its run. */
interface RoutineKeys {
  readonly projectId: Sql;
  readonly routineId: Sql;
}

/** A previous run as JSON, where times are strings. */
export type PreviousRunJson = Omit<PreviousRun, 'finishedAt'> & { readonly finishedAt: string };

/** Selects the previous run of a routine as one JSON value, or null: the first entry of the index of ended runs. */
export function previousRunJson(run: RoutineKeys): Sql {
  return sql`(
    select json_build_object('finishedAt', p.finished_at, 'result', p.result) from runs p
    where ${ownedBy(sql`p.routine_id`, run.routineId)} and p.project_id = ${run.projectId} and p.state = 'succeeded'
      and p.trigger <> 'backfill' and ${isWork(sql`p.trigger`)}
    order by p.routine_id, p.id desc limit 1
  )`;
}

export function previousRunOf({ finishedAt, result }: PreviousRunJson): PreviousRun {
  return { finishedAt: new Date(finishedAt), result: result === '' ? null : result };
}

export function asksForData(instructions: Sql): Sql {
  return sql`${instructions} ~ 'previous[.](data|changes)'`;
}

export function previousDataJson(run: RoutineKeys): Sql {
  return sql`(
    select json_build_object('data', p.data, 'changes', p.changes - 'by') from runs p
    where p.project_id = ${run.projectId} and p.routine_id = ${run.routineId} and p.data is not null
      and p.trigger <> 'backfill' and ${isWork(sql`p.trigger`)}
    order by p.compared_at desc limit 1
  )`;
}

export function tellsQuestions(definition: Sql): Sql {
  return sql`(${definition} ->> 'mayAsk' = 'true' or position('answers' in ${definition} ->> 'instructions') > 0)`;
}

/** Number of the latest questions of a thread in the briefing. */
const MOST_OF_THREAD = 10;

/** The most characters of each earlier answer. */
const ANSWER_LENGTH = 4_000;

/** Selects the question of a follow-up as one JSON value, with its result and its thread. */
function followUpJson(run: Sql): Sql {
  return sql`(
    select jsonb_build_object('message', ${run}.message, 'fenced', ${run}.values_fenced, 'result', began.result,
      'finishedAt', began.finished_at, 'thread', coalesce((
        select jsonb_agg(jsonb_build_object('message', t.message, 'answer', left(t.result, ${ANSWER_LENGTH}))
          order by t.id)
        from (
          select id, message, result from runs earlier
          where earlier.follows_up = ${run}.follows_up and earlier.project_id = ${run}.project_id
            and earlier.state = 'succeeded' and earlier.id < ${run}.id
          order by earlier.id desc limit ${MOST_OF_THREAD}
        ) t), '[]'))
    from (select 1) one
    left join runs began on began.id = ${run}.follows_up and began.project_id = ${run}.project_id
  )`;
}
