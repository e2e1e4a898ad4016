import { sql, type Sql } from '#lib/database/index.ts';

/** Selects the usage of a run or a step as `RunUsage`. */
export function usageWith(estimated: Sql): Sql {
  return sql`jsonb_build_object('inputTokens', input_tokens, 'cachedInputTokens', cached_input_tokens,
  'outputTokens', output_tokens, 'reasoningTokens', reasoning_tokens, 'costUsd', trim_scale(cost_usd)::text,
  'estimated', ${estimated}) as usage`;
}

/** The columns of `Step`. */
export const stepColumns = columns(sql`text, tool`);

/** The same without the texts of models and tools, of which the lengths stay. */
export const stepColumnsWithout =
  columns(sql`null as text, case when tool is not null then tool - 'input'
    || '{"arguments": null, "result": null, "structured": null, "attachments": []}'::jsonb end as tool`);

function columns(texts: Sql): Sql {
  return sql`
  index, kind, state, attempt, model_id as "modelId", ${texts}, finish_reason as "finishReason",
  error_message as "errorMessage", coalesce(warnings, '[]') as warnings, ${usageWith(sql`usage_estimated`)}, started_at as "startedAt", finished_at as "finishedAt"
`;
}
