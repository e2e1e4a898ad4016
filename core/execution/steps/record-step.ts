import type { ModelMessage } from 'ai';
import { callCounted, callHolds, callSucceeded } from '#core/models/calls/index.ts';
import { noteEnd, noteSpending } from '#core/delivery/notifications/index.ts';
import { routineAfterRun } from '#core/authoring/routines/index.ts';
import { isLimited, isSettled, releaseAttempt, settlement, type Attempt, type Spent } from '#core/usage/index.ts';
import type { SkillRevisions } from '#core/authoring/skills/index.ts';
import { breakerAfterRun } from '#core/execution/breaker/index.ts';
import type { RunEnding, StepWarning } from '#core/execution/run-states/index.ts';
import { seenAtEnd } from '#core/execution/gate/index.ts';
import {
  addUsage,
  endedColumns,
  followEnd,
  outcomeOf,
  recordEnd,
  type EndDeps,
  type EndedRun,
} from '#core/execution/runs/index.ts';
import type { PlannedCall } from '#core/integrations/tools/index.ts';
import { persistently, sql, storable, storableJson, transaction, type Db, type Sql } from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import { isAwaited, type StepRun } from './begin-step.ts';
import { endingByChecks, type JudgedResponse } from './judge.ts';
import type { ModelResponse } from './model-call.ts';
import type { PreparedStep } from './prepare.ts';
import { ModelFailure, Stop, type StepOutcome } from './stop.ts';

/**
 * Records a model step with its consequences: the tool calls it asks for, the request for a better result, or the end
 * of the run. If another attempt was faster or the run has ended meanwhile, only the usage is added.
 * @throws {Stop} when only the usage was added, {ModelFailure} when the call is no longer valid, so that nothing was
 * recorded
 */
export async function recordStep(
  deps: EndDeps,
  run: StepRun,
  step: PreparedStep,
  { response, judged, deadline }: { response: ModelResponse; judged: JudgedResponse; deadline: Deadline },
): Promise<StepOutcome> {
  const { runId, index, attempt } = run;
  const { prompt, briefing, skillRevisions, factsVersion } = step;
  const { messages, costUsd, warnings } = judged;
  deps.metrics.modelCost(step.option.modelId, costUsd);
  const text = { prompt, briefing, skillRevisions, factsVersion };
  const record: ModelStepRecord = { runId, index, attempt, ...text, response, messages, costUsd, warnings };
  // Repeat this while Postgres is away: a response that is not recorded would have to be paid for again.
  const recorded = await persistently(() => recordJudged(deps, run, record, judged), deadline.signal);
  if (recorded === undefined) throw Stop.overtaken();
  if (recorded === 'goes_on') {
    const { steps, names } = judged.calls;
    const nextIndex = index + 1 + steps.length;
    return { next: 'continue', toolCalls: names, nextIndex, remainingMs: deadline.remainingMs() };
  }
  return { next: 'ended', state: recorded };
}

/**
 * @returns the state of the run when it has ended; undefined when the step or the end of the run was recorded before,
 * and only the usage was added
 */
async function recordJudged(
  deps: EndDeps,
  run: StepRun,
  record: ModelStepRecord,
  { ending, patterns, calls }: JudgedResponse,
): Promise<RunEnding['state'] | 'goes_on' | undefined> {
  const { database } = deps;
  if (ending === undefined) {
    const recorded = await recordModelStep(database, record, { calls: calls.steps, spends: run.budgets });
    if (recorded?.isFollowed === true) deps.work.nudge('spending');
    if (recorded !== undefined) return 'goes_on';
    await transaction(database, (tx) => recordLate(tx, run, record));
    return undefined;
  }
  const decided = await endingByChecks(database, run, ending, patterns);
  const hasSucceeded = decided.state === 'succeeded';
  // Do not keep the value for a rehearsal or a run without its tools: such runs have not acted on it.
  const keepsSeen = run.gate !== null && run.trigger !== 'rehearsal' && decided.warnings === undefined;
  const isAlone = hasSucceeded && !run.hasWebhook && decided.data === undefined && decided.next?.final !== true;
  if (isAlone) {
    const ended = await recordStepAndSuccess(database, record, decided, { keepsSeen, isAlone });
    if (ended !== undefined) {
      await followEnd(deps, database, ended, decided);
      return ended.state;
    }
  }
  return transaction(database, async (tx) => {
    if (hasSucceeded) {
      const ended = await recordStepAndSuccess(tx, record, decided, { keepsSeen, isAlone: false });
      if (ended !== undefined) await followEnd(deps, tx, ended, decided);
      else await recordLate(tx, run, record);
      return ended?.state;
    }
    if ((await recordModelStep(tx, record, { calls: [] })) !== undefined) {
      return (await recordEnd(deps, tx, run.runId, decided))?.state;
    }
    await recordLate(tx, run, record);
    return undefined;
  });
}

async function recordLate(tx: Db, run: StepRun, record: ModelStepRecord): Promise<void> {
  if (await isUnrecorded(tx, record)) {
    const message = 'The lease under which the model was called has ended.';
    throw new ModelFailure('model_unreachable', message, { retryable: true });
  }
  await settleLateResponse(tx, record, run.budgets);
}

async function isUnrecorded(db: Db, record: ModelStepRecord): Promise<boolean> {
  if (record.response.call === undefined) return false;
  const found = await db.row<{ awaited: boolean }>`select ${isAwaited(record)} as awaited`;
  return found?.awaited === true;
}

interface ModelStepRecord extends Attempt {
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
async function recordModelStep(
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
 * @returns undefined, without any change, when a run that is alone has got a webhook, and when the step had been
 * recorded or the run had ended before
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
          select from routines r
          where r.id = runs.routine_id and r.webhook_url is not null and r.webhook_failed_at is null
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
        prompt = coalesce(prompt, ${storable(prompt)}),
        briefing = coalesce(briefing, ${briefing && storable(briefing)}),
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
 * Settles a response that came too late, because its run had ended or another attempt had recorded the step. The
 * response was paid for, so its usage is added to the step, the run, the ledger and the totals. Everything else stays.
 * Nothing is added if this attempt was settled before, or if another attempt got the same response and was settled: a
 * call on an account is made once, even if several attempts ask for it.
 * @param tx transaction
 */
async function settleLateResponse(tx: Db, record: ModelStepRecord, budgets: StepRun['budgets']): Promise<void> {
  const { runId, response, index } = record;
  const { call } = response;
  const used = spentBy(record);
  // Lock in a separate statement, so that the next statement sees the writes of the run's last lock holder.
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
