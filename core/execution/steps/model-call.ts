import type { ModelMessage, ToolSet } from 'ai';
import type { IssuedCall } from '#core/models/calls/index.ts';
import type { ModelConnectionRef } from '#core/models/connections/index.ts';
import type { ModelAbilities, ServedModel } from '#core/models/directory/index.ts';
import type { OfferedTool } from '#core/integrations/tools/index.ts';
import { estimatedTokens, tokenCount, type Usage } from '#core/foundation/cost/index.ts';
import { storableJson } from '#lib/database/index.ts';
import type { JsonObject } from '#lib/json.ts';
import { parseExact } from '#lib/exact-json/parse.ts';

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  /** Its arguments; their text where they are unusable. */
  readonly input: unknown;
  /** True when there is no such tool or its arguments are unusable; the response's own messages already refuse it. */
  readonly invalid: boolean;
}

export interface CallUsage extends Usage {
  /** True where the provider stated what cannot be. */
  readonly isDoubted?: boolean;
}

export interface ModelResponse {
  readonly text: string;
  /** The assistant's part of the transcript, in the form in which the next step sends it back. */
  readonly messages: readonly ModelMessage[];
  readonly toolCalls: readonly ToolCallRequest[];
  readonly finishReason: string;
  readonly usage: CallUsage;
  /** The call on an account that produced it, which is recorded with it; undefined at the gateway. */
  readonly call?: IssuedCall;
}

export interface ModelCall {
  /** The organization for which it is made; what its refusals show holds for that one alone. */
  readonly organizationId: string;
  readonly modelId: string;
  /** The model at its server; null on an account. */
  readonly served: ServedModel | null;
  /** Abilities that the server is known to have. */
  readonly abilities?: ModelAbilities | undefined;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  /** JSON Schema of its text, where the model can be held to one; undefined for any text. */
  readonly resultSchema?: JsonObject | undefined;
  /** Window of the model; null where it is unknown. */
  readonly contextTokens?: number | null | undefined;
  /** Undefined leaves the limit to the provider. */
  readonly maxOutputTokens?: number | undefined;
  /** True where neither a budget nor the routine rests on that limit, so that a server which takes none may go without. */
  readonly limitMayGo?: boolean | undefined;
  /** True for a call that tries again what was learned before. */
  readonly afresh?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called when the request goes out, after which it may be billed. */
  readonly onSend?: (() => void) | undefined;
  /** The account of the call, and its step; undefined at the gateway. */
  readonly account?: AccountStep | undefined;
}

export interface ModelCaller {
  /** Longest duration of a call, after which it is aborted. */
  readonly timeoutMs: number;
  /**
   * @throws {ModelFailure}, {Stop} where an account cannot take it, or the signal's reason when it was aborted
   */
  call(input: ModelCall): Promise<ModelResponse>;
  close(): Promise<void>;
}

/** The model step for which a call on an account is made. */
export interface AccountStep {
  readonly provider: string;
  readonly connection: ModelConnectionRef;
  readonly runId: string;
  readonly index: number;
  readonly tools: readonly OfferedTool[];
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}

/** Sends each call to the gateway, or to the account that it is made on. */
export function chooseCaller(callers: { readonly gateway: ModelCaller; readonly accounts: ModelCaller }): ModelCaller {
  const { gateway, accounts } = callers;
  return {
    timeoutMs: Math.max(gateway.timeoutMs, accounts.timeoutMs),
    call: (input) => (input.account === undefined ? gateway : accounts).call(input),
    async close() {
      await Promise.all([gateway.close(), accounts.close()]);
    },
  };
}

/** Returns the value as the tables store it, so that a step works with exactly what is recorded. */
export function asStored<T>(value: T): T {
  if (value === undefined) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages and arguments came out of JSON, so they go through it unchanged
  return parseExact(storableJson(value)) as T;
}

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

/** Larger than the window of any model. */
const LARGEST_WINDOW = 10_000_000;

/**
 * Returns the usage as stated. No call is without input and no text without output, so a count of zero counts as not
 * stated. Neither are the counts of one who states more than the model can read and write, or fewer than none.
 */
export function usageOf(
  call: Input & Pick<ModelCall, 'contextTokens' | 'maxOutputTokens'>,
  { stated, texts, calls }: StatedUsage,
): CallUsage {
  const window = call.contextTokens ?? LARGEST_WINDOW;
  const most = window + (call.maxOutputTokens ?? window);
  const claimed = [stated.inputTokens ?? 0, stated.outputTokens ?? 0];
  const isDoubted = claimed.some((tokens) => tokens < 0) || claimed.reduce((sum, tokens) => sum + tokens, 0) > most;
  const [input, output] = isDoubted ? [0, 0] : [tokenCount(stated.inputTokens), tokenCount(stated.outputTokens)];
  const inputTokens = input || countInput(call);
  const written = calls.map(({ name, args }) => name + JSON.stringify(args));
  const outputTokens = output || estimatedTokens(...texts, ...written);
  return {
    inputTokens,
    cachedInputTokens: Math.min(tokenCount(stated.cachedInputTokens), input),
    outputTokens,
    reasoningTokens: Math.min(tokenCount(stated.reasoningTokens), output),
    estimated: inputTokens !== input || outputTokens !== output,
    ...(isDoubted ? { isDoubted } : {}),
  };
}
