import { row, sql, storable, storableJson, type Db } from '#lib/database/index.ts';
import type { ModelMessage } from 'ai';
import type { ModelAnswer } from './model-call.ts';
import { totalTokens } from './usage.ts';

export interface RunTotals {
  readonly totalTokens: number;
  readonly modelSteps: number;
}

/**
 * Records a model step with its usage, its ledger row and the run's new totals in one statement, once: a second
 * attempt finds the step recorded and changes nothing.
 * @returns the run's totals, or undefined when the step had been recorded, or the run had ended, before
 */
export function recordModelStep(
  tx: Db,
  input: {
    runId: string;
    index: number;
    prompt: string;
    answer: ModelAnswer;
    /** The assistant's part of the transcript. */
    messages: readonly ModelMessage[];
    costUsd: string | null;
  },
): Promise<RunTotals | undefined> {
  const { runId, index, answer } = input;
  const { usage } = answer;
  return row<RunTotals>(
    tx,
    sql`
      with live as (
        select id from runs where id = ${runId} and state = 'running' for update
      ), step as (
        update steps set state = 'succeeded', error_message = null, text = ${storable(answer.text)},
          messages = ${storableJson(input.messages)}::jsonb, finish_reason = ${answer.finishReason},
          input_tokens = ${usage.inputTokens}, cached_input_tokens = ${usage.cachedInputTokens},
          output_tokens = ${usage.outputTokens}, reasoning_tokens = ${usage.reasoningTokens},
          cost_usd = ${input.costUsd}, finished_at = now()
        from live
        where run_id = live.id and index = ${index} and state = 'started'
        returning run_id, model_id
      ), ledger as (
        insert into usage_ledger (run_id, step_index, project_id, routine_id, model_id, total_tokens, cost_usd, occurred_at)
        select runs.id, ${index}, runs.project_id, runs.routine_id, step.model_id, ${totalTokens(usage)},
          ${input.costUsd}, now()
        from step join runs on runs.id = step.run_id
        on conflict do nothing
      )
      update runs set
        prompt = coalesce(prompt, ${storable(input.prompt)}),
        step_count = step_count + 1,
        input_tokens = input_tokens + ${usage.inputTokens},
        cached_input_tokens = cached_input_tokens + ${usage.cachedInputTokens},
        output_tokens = output_tokens + ${usage.outputTokens},
        reasoning_tokens = reasoning_tokens + ${usage.reasoningTokens},
        cost_usd = case when ${input.costUsd}::numeric is null then cost_usd
          else coalesce(cost_usd, 0) + ${input.costUsd}::numeric end
      from step where runs.id = step.run_id
      returning input_tokens + output_tokens as "totalTokens", step_count as "modelSteps"
    `,
  );
}
