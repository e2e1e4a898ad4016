import type { ModelMessage } from 'ai';
import { callCounted, callHolds, callSucceeded } from '#core/models/calls/index.ts';
import { noteEnd, noteSpending } from '#core/delivery/notifications/index.ts';
import { routineAfterRun } from '#core/authoring/routines/index.ts';
import { isLimited, isSettled, releaseAttempt, settlement, type Attempt, type Spent } from '#core/usage/index.ts';
import type { SkillRevisions } from '#core/authoring/skills/index.ts';
import { breakerAfterRun } from '#core/execution/breaker/index.ts';
import type { RunEnding, StepWarning } from '#core/execution/run-states/index.ts';
import { seenAtEnd } from '#core/execution/gate/index.ts';
import { endedColumns, outcomeOf, type EndedRun } from '#core/execution/runs/index.ts';
import type { PlannedCall } from '#core/integrations/tools/index.ts';
import { sql, storable, storableJson, type Db, type Sql } from '#lib/database/index.ts';
import type { StepRun } from './begin-step.ts';
import type { ModelResponse } from './model-call.ts';

export interface ModelStepRecord extends Attempt {
  readonly prompt: string;
  readonly briefing: string | null;
  readonly skillRevisions: SkillRevisions;
  readonly factsVersion: number | null;
  readonly response: ModelResponse;
  /** The assistant's part of the transcript, with the additions of the service. */
  readonly messages: readonly ModelMessage[];
  readonly costUsd: string | null;
  readonly warnings: readonly StepWarning[];
}

/**
 * Records a model step with its usage, its settlement, the run's new totals, its tool calls, and news of budgets.
 * @param then.spends the budgets of a run that continues; undefined if it ends
 * @returns undefined, without any change, when the step had been recorded or the run had ended before
 */
export async function recordModelStep(
  db: Db,
  record: ModelStepRecord,
  then: { readonly calls: readonly PlannedCall[]; readonly spends?: StepRun['budgets'] },
): Promise<{ readonly isFollowed: boolean } | undefined> {
  const { runId, index, response, messages, prompt, briefing, skillRevisions, factsVersion } = record;
  const { call } = response;
  const used = spentBy(record);
  const steps = then.calls.map(({ error, ...tool }, offset) => ({
    index: index + 1 + offset,
    state: error === null ? 'pending' : 'failed',
    error_message: error,
    tool,
  }));
  return db.row<{ isFollowed: boolean }>`
    with live as (
      select id, organization_id, routine_id from runs
      where id = ${runId} and state = 'running' and ${call === undefined ? sql`true` : callHolds(call)} for update
    ), step as (
      -- The run's id is repeated: a plan that Postgres makes while the table is young finds a step by its index alone.
      update steps set state = 'succeeded', error_message = null, text = ${storable(response.text)},
        messages = ${storableJson(messages)}::jsonb, finish_reason = ${response.finishReason},
        warnings = ${warningsJson(record)}::jsonb, ${addUsage(used, sql`usage_estimated`)}, finished_at = now()
      from live
      where run_id = ${runId} and run_id = live.id and index = ${index} and state = 'started'
      returning run_id, index, live.organization_id, project_id, live.routine_id, model_id, 1 as new_steps
    ), call as (
      ${call === undefined ? sql`select` : callSucceeded(call, sql`step`)}
    ), ${settlement(sql`step`, used)}, calls as (
      insert into steps (run_id, index, project_id, kind, state, error_message, tool, finished_at)
      select step.run_id, s.index, step.project_id, 'tool', s.state, s.error_message, s.tool,
        case when s.state = 'failed' then now() end
      from step, jsonb_to_recordset(${storableJson(steps)}::jsonb)
        as s(index integer, state text, error_message text, tool jsonb)
      on conflict do nothing
    ), news as (
      ${noteIfLimited(then.spends)}
    )
    update runs set step_count = step_count + 1, ${addUsage(used, sql`estimated_usage`)},
      prompt = coalesce(prompt, ${storable(prompt)}), briefing = coalesce(briefing, ${briefing && storable(briefing)}),
      skill_revisions = coalesce(skill_revisions, ${skillRevisions && JSON.stringify(skillRevisions)}::jsonb),
      facts_version = coalesce(facts_version, ${factsVersion}::integer)
    from step where runs.id = step.run_id
    returning exists (select from news) as "isFollowed"
  `;
}

function noteIfLimited(budgets: StepRun['budgets'] | undefined): Sql {
  const isLimitedRun = budgets !== undefined && Object.values(budgets).some(isLimited);
  return isLimitedRun ? noteSpending(sql`step`) : sql`select where false`;
}

/**
 * Records the last step of a run and its success in one statement, which is all that most runs need.
 * @param how.keepsSeen whether the run has acted on the value of its gate
 * @param how.isAlone true when nothing else follows: a run whose routine has a webhook by now is then left unchanged
 * @returns undefined, without any change, in that case, and when the step had been recorded or the run had ended before
 */
export async function recordStepAndSuccess(
  db: Db,
  record: ModelStepRecord,
  ending: RunEnding,
  { keepsSeen, isAlone }: { readonly keepsSeen: boolean; readonly isAlone: boolean },
): Promise<EndedRun | undefined> {
  const { runId, index, response, messages, prompt, briefing, skillRevisions, factsVersion } = record;
  const { call } = response;
  const used = spentBy(record);
  return db.row<EndedRun>`
    with live as (
      select id, organization_id, routine_id from runs
      where id = ${runId} and state = 'running' and ${call === undefined ? sql`true` : callHolds(call)}
        and not (${isAlone} and exists (
          select from routines r where r.id = runs.routine_id and r.webhook_url is not null and r.webhook_failed_at is null
        ))
      for update
    ), step as (
      -- The run's id is repeated: a plan that Postgres makes while the table is young finds a step by its index alone.
      update steps set state = 'succeeded', error_message = null, text = ${storable(response.text)},
        messages = ${storableJson(messages)}::jsonb, finish_reason = ${response.finishReason},
        warnings = ${warningsJson(record)}::jsonb, ${addUsage(used, sql`usage_estimated`)}, finished_at = now()
      from live
      where run_id = ${runId} and run_id = live.id and index = ${index} and state = 'started'
      returning run_id, index, live.organization_id, project_id, live.routine_id, model_id, 1 as new_steps
    ), call as (
      ${call === undefined ? sql`select` : callSucceeded(call, sql`step`)}
    ), ${settlement(sql`step`, used)}, ended as (
      -- After the settlement: its locks come before the routine's.
      update runs set state = 'succeeded', result = ${ending.result}, ${outcomeOf(ending)}, finished_at = now(),
        step_count = step_count + 1, ${addUsage(used, sql`estimated_usage`)},
        prompt = coalesce(prompt, ${storable(prompt)}), briefing = coalesce(briefing, ${briefing && storable(briefing)}),
        skill_revisions = coalesce(skill_revisions, ${skillRevisions && JSON.stringify(skillRevisions)}::jsonb),
        facts_version = coalesce(facts_version, ${factsVersion}::integer)
      from step, settled where runs.id = step.run_id
      returning runs.*
    ), ${routineAfterRun({ ...ending, ownFault: false })},
    ${breakerAfterRun(ending)}, ${noteEnd({ ...ending, reasonInWords: null })},
    ${keepsSeen ? seenAtEnd(sql`ended, routine`) : sql`seen as (select)`}
    select ${endedColumns} from ended, routine
  `;
}

/**
 * Settles a response that came too late, because its run had ended or another attempt had recorded the step: it was
 * paid for, so its usage is added to the step, the run, the ledger and the totals. Everything else stays. Nothing is
 * added when this attempt has been settled, or another one that was given the same response: a call on an account is
 * made once, however many attempts ask for it.
 * @param tx transaction
 */
export async function settleLateResponse(tx: Db, record: ModelStepRecord, budgets: StepRun['budgets']): Promise<void> {
  const { runId, response, index } = record;
  const { call } = response;
  const used = spentBy(record);
  // A separate statement: the next one sees the writes of the run's last lock holder.
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
      ${addUsage(used, sql`usage_estimated`)}
      from late
      where run_id = ${runId} and run_id = late.id and index = ${index}
      returning run_id, index, late.organization_id, project_id, late.routine_id, model_id, late.new_steps
    ), ${settlement(sql`step`, used)}, news as (
      ${noteIfLimited(budgets)}
    )
    update runs set ${addUsage(used, sql`estimated_usage`)} from step, settled where runs.id = step.run_id
  `;
  if (settled === 0) await releaseAttempt(tx, record);
}

function spentBy({ runId, index, attempt, response: { usage }, costUsd }: ModelStepRecord): Spent {
  return { runId, index, attempt, usage, costUsd };
}

function warningsJson({ warnings }: ModelStepRecord): string | null {
  return warnings.length === 0 ? null : JSON.stringify(warnings);
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
