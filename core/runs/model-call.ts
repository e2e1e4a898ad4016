import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, type ModelMessage, type ToolSet } from 'ai';
import { Agent } from 'undici';
import { boundedFetch } from './bounded-fetch.ts';
import type { IssuedCall } from '#core/model-connections/index.ts';
import type { Usage } from '#core/usage/index.ts';
import { storable } from '#lib/database/index.ts';
import type { JsonObject } from '#lib/json.ts';
import type { AccountStep } from './account/step.ts';
import { ModelFailure, toModelFailure } from './model-failure.ts';
import { usageOf } from './model-usage.ts';
import { withNumericUsage } from './numeric-usage.ts';
import { asStored } from './stored-response.ts';

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** True when there is no such tool or its arguments are unusable; the response's own messages already refuse it. */
  readonly invalid: boolean;
}

export interface ModelResponse {
  readonly text: string;
  /** The assistant's part of the transcript, in the form in which the next step sends it back. */
  readonly messages: readonly ModelMessage[];
  readonly toolCalls: readonly ToolCallRequest[];
  readonly finishReason: string;
  readonly usage: Usage;
  /** The call on an account that produced it, which is recorded with it; undefined at the gateway. */
  readonly call?: IssuedCall;
}

export interface ModelCall {
  readonly modelId: string;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  /** JSON Schema of its text, where the model can be held to one; undefined for any text. */
  readonly resultSchema?: JsonObject | undefined;
  /** Undefined leaves the limit to the provider. */
  readonly maxOutputTokens?: number | undefined;
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
   * @throws {ModelFailure}, `AccountBusy` and `AccountBlocked` where an account cannot take it, or the signal's reason
   *   when it was aborted
   */
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
    supportsStructuredOutputs: true,
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
        input.onSend?.();
        const generated = await generateText({
          model: modelOf(input.modelId),
          instructions: input.instructions,
          messages: [...input.messages],
          tools: input.tools,
          ...(input.maxOutputTokens === undefined
            ? {}
            : { maxOutputTokens: input.maxOutputTokens }),
          ...structuredOutput(input.resultSchema),
          maxRetries: 0,
          abortSignal: AbortSignal.any([input.signal, deadline.signal]),
        });
        return {
          text: storable(generated.text),
          messages: asStored(generated.response.messages),
          toolCalls: generated.toolCalls.map(({ toolCallId, toolName, input: args, invalid }) => ({
            callId: toolCallId,
            name: toolName,
            input: asStored(args),
            invalid: invalid === true,
          })),
          finishReason: generated.finishReason,
          usage: usageOf(input, {
            stated: {
              inputTokens: generated.usage.inputTokens,
              cachedInputTokens: generated.usage.inputTokenDetails.cacheReadTokens,
              outputTokens: generated.usage.outputTokens,
              reasoningTokens: generated.usage.outputTokenDetails.reasoningTokens,
            },
            texts: [generated.text, generated.reasoningText ?? ''],
            calls: generated.toolCalls.map(({ toolName, input: args }) => ({
              name: toolName,
              args,
            })),
          }),
        };
      } catch (error) {
        if (input.signal.aborted) throw input.signal.reason;
        if (deadline.signal.aborted) {
          const seconds = settings.timeoutMs / 1_000;
          throw new ModelFailure('model_unreachable', `The model gave no answer in ${seconds} s.`, {
            retryable: true,
            cutOff: true,
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

/**
 * Requests a text that fits a JSON Schema, as OpenAI defines it; not strictly, as a schema would then have to keep to a
 * part of the language. The run checks the text, so the library takes it as it is.
 */
function structuredOutput(schema: JsonObject | undefined) {
  if (schema === undefined) return {};
  const responseFormat = Promise.resolve(jsonSchema({ ...schema }).jsonSchema).then((json) => ({
    type: 'json' as const,
    schema: json,
    name: 'result',
  }));
  return {
    output: { ...Output.text(), responseFormat },
    providerOptions: { gateway: { strictJsonSchema: false } },
  };
}
