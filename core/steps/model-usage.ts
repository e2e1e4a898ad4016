import type { ModelMessage, ToolSet } from 'ai';
import { estimatedTokens, tokenCount, type Usage } from '#core/cost/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';

/** Messages and tools of a call, as they are sent. */
interface Input {
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  readonly resultSchema?: object | undefined;
}

/** Counts the input tokens of a call: everything that is sent with it. */
export function countInput({ instructions, messages, tools, resultSchema }: Input): number {
  const count = Object.keys(tools).length;
  return estimatedTokens(
    instructions,
    JSON.stringify(messages),
    count === 0 ? '' : JSON.stringify(tools),
    resultSchema === undefined ? '' : JSON.stringify(resultSchema),
  );
}

/** Token counts that a provider states for a call, and the text that it wrote. */
export interface StatedUsage {
  readonly stated: Readonly<Record<keyof Omit<Usage, 'estimated'>, number | undefined>>;
  readonly texts: readonly string[];
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
}

/**
 * Returns the usage as stated. No call is without input and no text without output, so a count of zero counts as not
 * stated.
 */
export function usageOf(call: Input, { stated, texts, calls }: StatedUsage): Usage {
  const input = tokenCount(stated.inputTokens);
  const output = tokenCount(stated.outputTokens);
  const inputTokens = input || countInput(call);
  const written = calls.map(({ name, args }) => name + JSON.stringify(args));
  const outputTokens = output || estimatedTokens(...texts, ...written);
  return {
    inputTokens,
    cachedInputTokens: tokenCount(stated.cachedInputTokens),
    outputTokens,
    reasoningTokens: tokenCount(stated.reasoningTokens),
    estimated: inputTokens !== input || outputTokens !== output,
  };
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
