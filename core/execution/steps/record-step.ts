import type { ModelMessage } from 'ai';
import { callCounted, callHolds, callSucceeded } from '#core/models/calls/index.ts';
import { hasAudience, notifySpending } from '#core/delivery/notifications/index.ts';
import { routineAfterRun } from '#core/authoring/routines/index.ts';
import { isLimited, isSettled, releaseAttempt, settlement, type Attempt, type Spent } from '#core/usage/index.ts';
import type { Usage } from '#core/foundation/cost/index.ts';
import type { SkillRevisions } from '#core/authoring/skills/index.ts';
import { othersWait } from '#core/execution/admission/index.ts';
import { breakerAfterRun } from '#core/execution/breaker/index.ts';
import type { RunEnding, StepWarning } from '#core/execution/run-states/index.ts';
import { outcomeOf, type RecordedEnd } from '#core/execution/runs/index.ts';
import type { PlannedCall } from '#core/integrations/tools/index.ts';
import {
  empty,
  sql,
  storable,
  storableJson,
  transaction,
  type Database,
  type Db,
  type Sql,
} from '#lib/database/index.ts';
import type { StepRun } from './begin-step.ts';
import type { ModelResponse } from './model-call.ts';

export interface ModelStepRecord extends Attempt {
  readonly prompt: string;
  readonly briefing: string | null;
  readonly skillRevisions: SkillRevisions;
  readonly factsVersion: number | null;
  readonly response: ModelResponse;
  /** The assistant's part of the transcript, with what the service adds to it. */
  readonly messages: readonly ModelMessage[];
  readonly costUsd: string | null;
  readonly warnings: readonly StepWarning[];
}

/**
 * Records a model step with its usage, its settlement, the run's new totals and the tool calls that it asks for, in one
 * statement: `live`, `step`, `call` of model connections, `ledger` to `settled` of usage, `calls`.
 * @returns false, without any change, when the step had been recorded or the run had ended before
 */
export async function recordModelStep(
  db: Db,
  record: ModelStepRecord,
  calls: readonly PlannedCall[],
): Promise<boolean> {
  const recorded = await db.row`
    with live as (
      select id, organization_id, routine_id from runs
      where id = ${record.runId} and state = 'running' ${whileCallHolds(record)} for update
    ), step as (
      ${updateStep(sql`live`, record)}
    ), ${recordCall(record)}, ${settlement(sql`step`, spentBy(record))}, calls as (
      ${insertCalls(sql`step`, record.index + 1, calls)}
    )
    update runs set ${addUsage(usageIn(record), sql`estimated_usage`)}, ${textOfRun(record)},
      step_count = step_count + 1
    from step where runs.id = step.run_id
    returning runs.id
  `;
  return recorded !== undefined;
}

/**
 * Records a step after which the run goes on, and tells those who follow its budgets what it has spent, in one
 * transaction where there is a follower and in one statement where there is none, as for most runs.
 * @returns false when the step had been recorded or the run had ended before; nothing is changed then
 */
export async function recordStepWithNews(
  database: Database,
  run: StepRun,
  record: ModelStepRecord,
  calls: readonly PlannedCall[],
): Promise<boolean> {
  if (!isWatched(run)) return recordModelStep(database, record, calls);
  return transaction(database, async (tx) => {
    const recorded = await recordModelStep(tx, record, calls);
    if (recorded) await tellSpending(tx, run);
    return recorded;
  });
}

/** Tells those who follow the budgets of a run what a step of it has spent. */
export async function tellSpending(tx: Db, run: StepRun): Promise<void> {
  if (isWatched(run)) await notifySpending(tx, run);
}

function isWatched({ hasAudience, budgets }: StepRun): boolean {
  return hasAudience && Object.values(budgets).some(isLimited);
}

/**
 * Records the last step of a run and its success in one statement, which is all that most runs need: `live`, `step`,
 * `call` of model connections, `ledger` to `settled` of usage, `ended`, `routine` of routines, `breaker`.
 * @returns undefined, without any change, when the end has to be reported, the step had been recorded or the
 * run had ended before
 */
export async function recordStepAndSuccess(
  db: Db,
  record: ModelStepRecord,
  ending: RunEnding,
): Promise<Pick<RecordedEnd, 'othersWait'> | undefined> {
  const ended = await db.row<Pick<RecordedEnd, 'othersWait'>>`
    with live as (
      select id, organization_id, routine_id from runs
      where id = ${record.runId} and state = 'running' ${whileCallHolds(record)} and not exists (
        select 1 from routines r where r.id = runs.routine_id
          and ((r.webhook_url is not null and r.webhook_failed_at is null) or ${hasAudience(sql`r`)}))
      for update
    ), step as (
      ${updateStep(sql`live`, record)}
    ), ${recordCall(record)}, ${settlement(sql`step`, spentBy(record))}, ended as (
      -- After the settlement: its locks come before the routine's.
      update runs set ${addUsage(usageIn(record), sql`estimated_usage`)}, ${textOfRun(record)},
        step_count = step_count + 1, state = 'succeeded', result = ${ending.result}, ${outcomeOf(ending)},
        finished_at = now()
      from step, settled where runs.id = step.run_id
      returning runs.*
    ), ${routineAfterRun({ state: 'succeeded', ownFault: false, isWhole: true })}, ${breakerAfterRun(ending)}
    select ${othersWait} as "othersWait" from ended, routine
  `;
  return ended;
}

/**
 * Settles a response that came too late, because its run had ended or another attempt had recorded the step: it was
 * paid for, so its usage is added to the step, the run, the ledger and the totals. Everything else stays. Nothing is
 * added when this attempt has been settled, or another one that was given the same response: a call on an account is
 * made once, however many attempts ask for it.
 * @param tx transaction
 */
export async function settleLateResponse(tx: Db, record: ModelStepRecord): Promise<void> {
  const { runId, response, index } = record;
  const { call } = response;
  // A statement of its own: the next one sees what the last holder of the run recorded.
  await tx.row`select id from runs where id = ${runId} for update`;
  const settled = await tx.run`
    with counted as (
      ${call === undefined ? sql`select` : callCounted(call)}
    ), late as (
      select r.id, r.organization_id, r.routine_id, (s.finish_reason is null)::integer as new_steps
      from runs r join steps s on s.run_id = r.id and s.index = ${index} cross join counted
      where r.id = ${runId} and not ${isSettled(record)}
    ), step as (
      update steps set finish_reason = coalesce(finish_reason, ${response.finishReason}),
      ${addUsage(usageIn(record), sql`usage_estimated`)}
      from late
      where run_id = ${runId} and run_id = late.id and index = ${index}
      returning run_id, index, late.organization_id, project_id, late.routine_id, model_id, late.new_steps
    ), ${settlement(sql`step`, spentBy(record))}
    update runs set ${addUsage(usageIn(record), sql`estimated_usage`)} from step, settled where runs.id = step.run_id
  `;
  if (settled === 0) await releaseAttempt(tx, record);
}

function spentBy({ response: { usage }, ...record }: ModelStepRecord): Spent {
  return { ...record, usage };
}

/** Returns the condition, beyond the usual ones, of recording a response from an account; the gateway's have none. */
function whileCallHolds({ response: { call } }: ModelStepRecord): Sql {
  return call === undefined ? empty : sql`and ${callHolds(call)}`;
}

/** Records the call of a step on an account, as the common table expression `call`, which reads `step`. */
function recordCall({ response: { call } }: ModelStepRecord): Sql {
  return sql`call as (${call === undefined ? sql`select` : callSucceeded(call, sql`step`)})`;
}

/**
 * Updates the step's row and returns what its settlement needs; no row when the step had been recorded. The run's id is
 * said a second time, because a plan that Postgres makes while the table is young finds the step by its index alone.
 * @param live relation with `id`, `organization_id` and `routine_id` of the run, empty when nothing may be recorded
 */
function updateStep(live: Sql, record: ModelStepRecord): Sql {
  const { runId, index, response, messages, warnings } = record;
  return sql`update steps set state = 'succeeded', error_message = null, text = ${storable(response.text)},
          messages = ${storableJson(messages)}::jsonb, finish_reason = ${response.finishReason},
          warnings = ${warnings.length === 0 ? null : JSON.stringify(warnings)}::jsonb,
          ${addUsage(usageIn(record), sql`usage_estimated`)}, finished_at = now()
        from ${live} live
        where run_id = ${runId} and run_id = live.id and index = ${index} and state = 'started'
        returning run_id, index, live.organization_id, project_id, live.routine_id, model_id,
          1 as new_steps`;
}

/**
 * Inserts the calls that the step asks for, as steps of their own from `firstIndex` on.
 * @param step relation with what `updateStep` returns
 */
function insertCalls(step: Sql, firstIndex: number, calls: readonly PlannedCall[]): Sql {
  const steps = calls.map(({ error, ...tool }, offset) => ({
    index: firstIndex + offset,
    state: error === null ? 'pending' : 'failed',
    error_message: error,
    tool,
  }));
  return sql`insert into steps (run_id, index, project_id, kind, state, error_message, tool, finished_at)
        select step.run_id, s.index, step.project_id, 'tool', s.state, s.error_message, s.tool,
          case when s.state = 'failed' then now() end
        from ${step} step, jsonb_to_recordset(${storableJson(steps)}::jsonb)
          as s(index integer, state text, error_message text, tool jsonb)
        on conflict do nothing`;
}

/** Stores the text that the first step rendered: assignments for an update of `runs`. */
function textOfRun({ prompt, briefing, skillRevisions, factsVersion }: ModelStepRecord): Sql {
  return sql`prompt = coalesce(prompt, ${storable(prompt)}),
        briefing = coalesce(briefing, ${briefing === null ? null : storable(briefing)}),
        skill_revisions = coalesce(skill_revisions,
        ${skillRevisions === null ? null : JSON.stringify(skillRevisions)}::jsonb),
        facts_version = coalesce(facts_version, ${factsVersion}::integer)`;
}

function usageIn({ response: { usage }, costUsd }: ModelStepRecord) {
  return { usage, costUsd };
}

/**
 * Adds the usage of a call: assignments for an update of `runs` or `steps`.
 * @param estimated the column that tells whether any of it was estimated
 */
export function addUsage(
  { usage, costUsd }: { readonly usage: Usage; readonly costUsd: string | null },
  estimated: Sql,
): Sql {
  return sql`input_tokens = input_tokens + ${usage.inputTokens},
        cached_input_tokens = cached_input_tokens + ${usage.cachedInputTokens},
        output_tokens = output_tokens + ${usage.outputTokens},
        reasoning_tokens = reasoning_tokens + ${usage.reasoningTokens},
        cost_usd = case when ${costUsd}::numeric is null then cost_usd
          else coalesce(cost_usd, 0) + ${costUsd}::numeric end,
        ${estimated} = ${estimated} or ${usage.estimated}`;
}
