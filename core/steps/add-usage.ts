import type { Usage } from '#core/usage/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';

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
