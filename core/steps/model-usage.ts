import type { ModelMessage, ToolSet } from 'ai';
import { estimatedTokens, tokenCount, type Usage } from '#core/usage/index.ts';

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
