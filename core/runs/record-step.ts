import { row, sql, storable, storableJson, type Db, type Sql } from '#lib/database/index.ts';
import type { ModelMessage } from 'ai';
import type { ModelAnswer } from './model-call.ts';
import type { PlannedCall } from './tool-record.ts';
import { callsOfStep } from './tool-step-queries.ts';
import { totalTokens } from './usage.ts';

export interface ModelStepRecord {
  readonly runId: string;
  readonly index: number;
  readonly prompt: string;
  readonly answer: ModelAnswer;
  /** The assistant's part of the transcript. */
  readonly messages: readonly ModelMessage[];
  readonly costUsd: string | null;
}

/**
 * Records a model step with its usage, its ledger row, the run's new totals and the tool calls that it asks for, in
 * one statement and once.
 * @returns false when the step had been recorded, or the run had ended, before; nothing is changed then
 */
export async function recordModelStep(
  db: Db,
  record: ModelStepRecord,
  asked: readonly PlannedCall[],
): Promise<boolean> {
  const recorded = await row(
    db,
    sql`
      with live as (
        select id from runs where id = ${record.runId} and state = 'running' for update
      ), ${stepOfLive(record)}, calls as (${callsOfStep(record.index + 1, asked)})
      update runs set ${newTotals(record)}
      from step where runs.id = step.run_id
      returning runs.id
    `,
  );
  return recorded !== undefined;
}

/**
 * The part of a statement that records the step of the run in its `live`: the common table expressions `step`, which
 * is empty when the step had been recorded before, and `ledger`.
 */
export function stepOfLive({ index, answer, messages, costUsd }: ModelStepRecord): Sql {
  const { usage } = answer;
  return sql`step as (
        update steps set state = 'succeeded', error_message = null, text = ${storable(answer.text)},
          messages = ${storableJson(messages)}::jsonb, finish_reason = ${answer.finishReason},
          input_tokens = ${usage.inputTokens}, cached_input_tokens = ${usage.cachedInputTokens},
          output_tokens = ${usage.outputTokens}, reasoning_tokens = ${usage.reasoningTokens},
          cost_usd = ${costUsd}, finished_at = now()
        from live
        where run_id = live.id and index = ${index} and state = 'started'
        returning run_id, project_id, model_id
      ), ledger as (
        insert into usage_ledger (run_id, step_index, project_id, routine_id, model_id, total_tokens, cost_usd, occurred_at)
        select runs.id, ${index}, runs.project_id, runs.routine_id, step.model_id, ${totalTokens(usage)},
          ${costUsd}, now()
        from step join runs on runs.id = step.run_id
        on conflict do nothing
      )`;
}

/** What a recorded step adds to its run, as the assignments of an update. */
export function newTotals({ prompt, answer: { usage }, costUsd }: ModelStepRecord): Sql {
  return sql`
        prompt = coalesce(prompt, ${storable(prompt)}),
        step_count = step_count + 1,
        input_tokens = input_tokens + ${usage.inputTokens},
        cached_input_tokens = cached_input_tokens + ${usage.cachedInputTokens},
        output_tokens = output_tokens + ${usage.outputTokens},
        reasoning_tokens = reasoning_tokens + ${usage.reasoningTokens},
        cost_usd = case when ${costUsd}::numeric is null then cost_usd
          else coalesce(cost_usd, 0) + ${costUsd}::numeric end`;
}
