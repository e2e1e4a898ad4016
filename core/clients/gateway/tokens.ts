import type { ModelMessage, ToolSet } from 'ai';
import type { JsonObject } from '#lib/json.ts';

/** Tokens of one call. `cachedInputTokens` are part of the input, `reasoningTokens` part of the output. */
export interface CallUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** True when the server stated no usage, so that input or output was counted from the texts. */
  readonly estimated: boolean;
  /** True if the server stated impossible counts. */
  readonly isDoubted?: boolean;
}

/** Token counts that a server stated; a count that is missing is undefined. */
export interface StatedTokens {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/** Everything in a call that its model reads. */
export interface CallInput {
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  /** JSON Schema for the text, if the model can be made to follow a schema; undefined for any text. */
  readonly resultSchema?: JsonObject | undefined;
}

export interface TokenBounds {
  /** Window of the model; null when it is unknown. */
  readonly contextTokens?: number | null | undefined;
  /** The most output tokens; undefined leaves the limit to the server. */
  readonly maxOutputTokens?: number | undefined;
}

/** Counts the input tokens of a call: everything that is sent with it. */
export function countInput({ instructions, messages, tools, resultSchema }: CallInput): number {
  const count = Object.keys(tools).length;
  return estimatedTokens(
    instructions,
    JSON.stringify(messages),
    count === 0 ? '' : JSON.stringify(tools),
    resultSchema === undefined ? '' : JSON.stringify(resultSchema),
  );
}

/** A number larger than the window of any model. */
const LARGEST_WINDOW = 10_000_000;

/**
 * Returns the usage as stated, but estimates missing counts. Every call has input and every text has output, so a count
 * of zero counts as missing. So do negative counts, and counts above the limits of the model.
 * @param written the texts and calls of the response
 */
export function usageOf(
  call: CallInput & TokenBounds,
  stated: StatedTokens,
  written: {
    readonly texts: readonly string[];
    readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  },
): CallUsage {
  const window = call.contextTokens ?? LARGEST_WINDOW;
  const most = window + (call.maxOutputTokens ?? window);
  const claimed = [stated.inputTokens ?? 0, stated.outputTokens ?? 0];
  const isDoubted = claimed.some((tokens) => tokens < 0) || claimed.reduce((sum, tokens) => sum + tokens, 0) > most;
  const counts = countsOf(isDoubted ? { ...stated, inputTokens: undefined, outputTokens: undefined } : stated);
  const inputTokens = counts.inputTokens || countInput(call);
  const calls = written.calls.map(({ name, input }) => name + JSON.stringify(input));
  const outputTokens = counts.outputTokens || estimatedTokens(...written.texts, ...calls);
  return {
    inputTokens,
    cachedInputTokens: Math.min(counts.cachedInputTokens, counts.inputTokens),
    outputTokens,
    reasoningTokens: Math.min(counts.reasoningTokens, counts.outputTokens),
    estimated: inputTokens !== counts.inputTokens || outputTokens !== counts.outputTokens,
    ...(isDoubted ? { isDoubted } : {}),
  };
}

/** Returns counts as whole numbers, with 0 for a missing or impossible count. */
export function countsOf(stated: StatedTokens): CallUsage {
  return {
    inputTokens: tokenCount(stated.inputTokens),
    cachedInputTokens: tokenCount(stated.cachedInputTokens),
    outputTokens: tokenCount(stated.outputTokens),
    reasoningTokens: tokenCount(stated.reasoningTokens),
    estimated: false,
  };
}

function tokenCount(claimed: number | undefined): number {
  if (claimed === undefined || !Number.isFinite(claimed) || claimed <= 0) return 0;
  return Math.min(Math.round(claimed), MAX_TOKENS);
}

const MAX_TOKENS = 1_000_000_000;

/**
 * Estimates the tokens of texts that are sent or received together. Common tokenizers make at most one token per three
 * bytes of UTF-8 in any language, so the estimate is an upper bound.
 */
export function estimatedTokens(...texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 3);
}

/**
 * Returns the fewest tokens that texts with this estimate can have: common tokenizers make at least one token per five
 * bytes, except in repetitions of a character.
 */
export function tokensAtLeast(estimated: number): number {
  return Math.ceil((estimated * 3) / 5);
}
