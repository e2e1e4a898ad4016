import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type ModelMessage, type ToolSet } from 'ai';
import { Agent } from 'undici';
import { boundedFetch } from './bounded-fetch.ts';
import { storable, storableJson } from '#lib/database/index.ts';
import { ModelFailure, toModelFailure } from './model-failure.ts';
import { withNumericUsage } from './numeric-usage.ts';
import { tokenCount, type Usage } from './usage.ts';

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** No such tool, or no usable arguments: answered already, in the answer's own messages. */
  readonly invalid: boolean;
}

export interface ModelAnswer {
  readonly text: string;
  /** The assistant's part of the transcript, as the next step has to send it back. */
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
  readonly signal: AbortSignal;
}

export interface ModelCaller {
  /** @throws {ModelFailure}; or the signal's reason when it was aborted */
  call(input: ModelCall): Promise<ModelAnswer>;
  close(): Promise<void>;
}

export interface ModelCallerSettings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

/** Calls models of the managed gateway over its OpenAI-compatible interface. Retries are the engine's, not the library's. */
export function createModelCaller(settings: ModelCallerSettings): ModelCaller {
  // A model may think for minutes before its first byte; the call's own deadline is the only clock.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
  const gateway = createOpenAICompatible({
    name: 'gateway',
    baseURL: settings.baseUrl,
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
    fetch: boundedFetch(agent, withNumericUsage),
  });
  // Making one builds its schemas, which costs more than the rest of a call. There are as many as the directory lists.
  const models = new Map<string, ReturnType<typeof gateway>>();
  const modelOf = (id: string) => {
    const model = models.get(id) ?? gateway(id);
    models.set(id, model);
    return model;
  };
  return {
    async call(input) {
      // Not `AbortSignal.timeout`: its timer runs on when the call is over, and holds the call's whole async context.
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), settings.timeoutMs);
      try {
        const answer = await generateText({
          model: modelOf(input.modelId),
          instructions: input.instructions,
          messages: [...input.messages],
          tools: input.tools,
          maxRetries: 0,
          abortSignal: AbortSignal.any([input.signal, deadline.signal]),
        });
        return {
          text: storable(answer.text),
          messages: clean(answer.response.messages),
          toolCalls: answer.toolCalls.map(({ toolCallId, toolName, input: args, invalid }) => ({
            callId: toolCallId,
            name: toolName,
            input: clean(args),
            invalid: invalid === true,
          })),
          finishReason: answer.finishReason,
          usage: {
            inputTokens: tokenCount(answer.usage.inputTokens),
            cachedInputTokens: tokenCount(answer.usage.inputTokenDetails.cacheReadTokens),
            outputTokens: tokenCount(answer.usage.outputTokens),
            reasoningTokens: tokenCount(answer.usage.outputTokenDetails.reasoningTokens),
          },
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

/** The same value as the tables keep it, so that what a step does and what is on record of it are one. */
function clean<T>(value: T): T {
  if (value === undefined) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages and arguments came out of JSON, so they go through it unchanged
  return JSON.parse(storableJson(value)) as T;
}
