import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type ModelMessage, type ToolSet } from 'ai';
import { Agent } from 'undici';
import { boundedFetch } from './bounded-fetch.ts';
import { storable, storableJson } from '#lib/database/index.ts';
import { ModelFailure, toModelFailure } from './model-failure.ts';
import { withNumericUsage } from './numeric-usage.ts';
import { estimatedTokens, tokenCount, type Usage } from '#core/usage/index.ts';

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** True when there is no such tool or its arguments are unusable; the response's own messages refuse it already. */
  readonly invalid: boolean;
}

export interface ModelResponse {
  readonly text: string;
  /** The assistant's part of the transcript, in the form in which the next step sends it back. */
  readonly messages: readonly ModelMessage[];
  readonly toolCalls: readonly ToolCallRequest[];
  readonly finishReason: string;
  readonly usage: Usage;
}

export interface ModelCall {
  readonly modelId: string;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  /** Undefined leaves it to the provider. */
  readonly maxOutputTokens?: number | undefined;
  readonly signal: AbortSignal;
}

export interface ModelCaller {
  /** The longest that a call takes: then it is broken off. */
  readonly timeoutMs: number;
  /** @throws {ModelFailure}, or the signal's reason when it was aborted */
  call(input: ModelCall): Promise<ModelResponse>;
  close(): Promise<void>;
}

export interface ModelCallerSettings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

/** Calls models of the managed gateway over its OpenAI-compatible interface. Temporal retries, not the library. */
export function createModelCaller(settings: ModelCallerSettings): ModelCaller {
  // A model may think for minutes before its first byte; the call's own deadline is the only clock.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
  const gateway = createOpenAICompatible({
    name: 'gateway',
    baseURL: settings.baseUrl,
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
    fetch: boundedFetch(agent, withNumericUsage),
  });
  // A model builds its schemas when it is made, which costs more than the rest of a call. There are as many models as
  // the directory lists.
  const models = new Map<string, ReturnType<typeof gateway>>();
  const modelOf = (id: string) => {
    const model = models.get(id) ?? gateway(id);
    models.set(id, model);
    return model;
  };
  return {
    timeoutMs: settings.timeoutMs,
    async call(input) {
      // The timer of `AbortSignal.timeout` would run on after the call and hold the call's whole async context.
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), settings.timeoutMs);
      try {
        const generated = await generateText({
          model: modelOf(input.modelId),
          instructions: input.instructions,
          messages: [...input.messages],
          tools: input.tools,
          ...(input.maxOutputTokens === undefined
            ? {}
            : { maxOutputTokens: input.maxOutputTokens }),
          maxRetries: 0,
          abortSignal: AbortSignal.any([input.signal, deadline.signal]),
        });
        return {
          text: storable(generated.text),
          messages: clean(generated.response.messages),
          toolCalls: generated.toolCalls.map(({ toolCallId, toolName, input: args, invalid }) => ({
            callId: toolCallId,
            name: toolName,
            input: clean(args),
            invalid: invalid === true,
          })),
          finishReason: generated.finishReason,
          usage: usageOf(input, generated),
        };
      } catch (error) {
        if (input.signal.aborted) throw input.signal.reason;
        if (deadline.signal.aborted) {
          const seconds = settings.timeoutMs / 1_000;
          throw new ModelFailure('model_unreachable', `The model gave no answer in ${seconds} s.`, {
            retryable: true,
          });
        }
        throw toModelFailure(error);
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Counts the input of a call: everything that is sent with it. */
export function countInput({
  instructions,
  messages,
  tools,
}: Pick<ModelCall, 'instructions' | 'messages' | 'tools'>): number {
  const count = Object.keys(tools).length;
  return estimatedTokens(
    instructions,
    JSON.stringify(messages),
    count === 0 ? '' : JSON.stringify(tools),
  );
}

/** Returns the usage as stated. No call is without input and no text without output: a count of none is none stated. */
function usageOf(
  call: ModelCall,
  generated: Pick<
    Awaited<ReturnType<typeof generateText>>,
    'usage' | 'text' | 'reasoningText' | 'toolCalls'
  >,
): Usage {
  const { usage, text, reasoningText = '', toolCalls } = generated;
  const input = tokenCount(usage.inputTokens);
  const output = tokenCount(usage.outputTokens);
  const inputTokens = input || countInput(call);
  const calls = toolCalls.map(({ toolName, input: args }) => toolName + JSON.stringify(args));
  const outputTokens = output || estimatedTokens(text, reasoningText, ...calls);
  return {
    inputTokens,
    cachedInputTokens: tokenCount(usage.inputTokenDetails.cacheReadTokens),
    outputTokens,
    reasoningTokens: tokenCount(usage.outputTokenDetails.reasoningTokens),
    estimated: inputTokens !== input || outputTokens !== output,
  };
}

/** Returns the value as the tables store it, so that a step works with exactly what is recorded. */
function clean<T>(value: T): T {
  if (value === undefined) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages and arguments came out of JSON, so they go through it unchanged
  return JSON.parse(storableJson(value)) as T;
}
