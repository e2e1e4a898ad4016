import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, type LanguageModel, type ModelMessage } from 'ai';
import { Agent } from 'undici';
import type { AbilityStore, ServedModel } from '#core/models/directory/index.ts';
import { withoutDialect } from '#core/integrations/tools/index.ts';
import { withExactArguments } from '#lib/exact-json/call-arguments.ts';
import type { ModelSource } from '#lib/config/index.ts';
import { storable } from '#lib/database/index.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { learnRefusals } from './learning.ts';
import { causeOf, Refusal, toModelFailure } from './refusal.ts';
import { adaptRequest, gatewayFetch } from './request.ts';
import type { Beyond } from './response.ts';
import { ModelFailure } from '../stop.ts';
import { asStored, usageOf, type ModelCall, type ModelCaller, type ModelResponse } from '../model-call.ts';

export interface ModelCallerSettings {
  readonly sources: readonly ModelSource[];
  readonly abilities: AbilityStore;
  readonly timeoutMs: number;
  /** Longest silence of a response that is streamed. */
  readonly silenceMs: number;
}

/**
 * Calls models of the sources behind `gateway` over OpenAI's chat completions. Temporal retries, not the library. A
 * request that is refused for a field which it can do without goes out again without it, at once, and what was learned
 * is remembered for the model once that is accepted.
 */
export function createModelCaller(settings: ModelCallerSettings): ModelCaller {
  // A model may think for minutes before its first byte; silence and the call's own deadline are the clocks.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
  const providers = new Map(
    settings.sources.map((source) => [source.name, providerOf(source, agent, settings.silenceMs)]),
  );
  // A model builds its schemas when it is made, which costs more than the rest of a call. There are as many models as
  // the directory lists.
  const models = new Map<string, ServedLanguageModel>();
  const modelOf = ({ source, modelId }: ServedModel) => {
    const key = `${source}/${modelId}`;
    const model = models.get(key) ?? providers.get(source)?.(modelId);
    if (model === undefined) {
      const message = `The model source ${source} is not configured.`;
      throw new ModelFailure('model_unreachable', message, { retryable: false });
    }
    models.set(key, model);
    return model;
  };
  return {
    timeoutMs: settings.timeoutMs,
    async call(input) {
      const { served } = input;
      if (served === null) throw new Error('a model of an account is called by its runtime');
      const model = modelOf(served);
      // The timer of `AbortSignal.timeout` would run on after the call and hold the call's whole async context.
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), settings.timeoutMs);
      const signal = AbortSignal.any([input.signal, deadline.signal]);
      const learning = learnRefusals(input, { ...settings, served });
      try {
        input.onSend?.();
        for (;;) {
          try {
            const response = await generate(model, learning.call(), signal);
            await learning.keep(response);
            return response;
          } catch (error) {
            if (signal.aborted || !learning.learn(causeOf(error, Refusal))) throw error;
          }
        }
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

function providerOf({ baseUrl, apiKey }: ModelSource, dispatcher: Agent, silenceMs: number) {
  return createOpenAICompatible({
    name: PROVIDER,
    baseURL: baseUrl,
    supportsStructuredOutputs: true,
    ...(apiKey === undefined ? {} : { apiKey }),
    fetch: gatewayFetch({ dispatcher, apiKey, silenceMs }),
    // The abilities come with each call as an option, which the library would send.
    transformRequestBody: ({ abilities = {}, ...body }) => adaptRequest(body, abilities),
    metadataExtractor: {
      extractMetadata: ({ parsedBody }) =>
        Promise.resolve(
          isJsonObject(parsedBody) ? { [PROVIDER]: asJson({ beyond: parsedBody['beyond'] }) } : undefined,
        ),
      createStreamExtractor: () => ({
        processChunk: () => undefined,
        buildMetadata: () => undefined,
      }),
    },
  });
}

type ServedLanguageModel = Exclude<LanguageModel, string>;

const PROVIDER = 'gateway';

/** Makes one request and reads its response. @throws what the library throws */
async function generate(
  served: ServedLanguageModel,
  call: ModelCall,
  abortSignal: AbortSignal,
): Promise<ModelResponse> {
  const { maxOutputTokens, resultSchema, abilities } = call;
  const exact = withExactArguments(served);
  const generated = await generateText({
    model: exact.model,
    instructions: call.instructions,
    messages: [...call.messages],
    tools: call.tools,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(resultSchema === undefined ? {} : { output: textInForm(resultSchema) }),
    // Not strictly, as a schema would then have to keep to a part of the language.
    providerOptions: { [PROVIDER]: { strictJsonSchema: false, abilities: { ...abilities } } },
    maxRetries: 0,
    abortSignal,
  });
  const beyond = beyondOf(generated.providerMetadata);
  const reasoning = Object.values(beyond.reasoning).filter((text) => typeof text === 'string');
  const toolCalls = generated.toolCalls.map((each) => ({
    callId: each.toolCallId,
    name: each.toolName,
    ...exact.read(each),
  }));
  const invalid = new Set(toolCalls.flatMap((each) => (each.invalid ? [each.callId] : [])));
  return {
    text: storable(generated.text),
    messages: asStored(assistantMessages(exact.inMessages(generated.response.messages), beyond, invalid)),
    toolCalls: toolCalls.map((each) => ({ ...each, input: asStored(each.input) })),
    finishReason: generated.finishReason,
    usage: usageOf(call, {
      stated: {
        inputTokens: generated.usage.inputTokens,
        cachedInputTokens: generated.usage.inputTokenDetails.cacheReadTokens,
        outputTokens: generated.usage.outputTokens,
        reasoningTokens: generated.usage.outputTokenDetails.reasoningTokens,
      },
      texts: [generated.text, ...reasoning.slice(0, 1), beyond.thinking],
      calls: toolCalls.map(({ name, input: args }) => ({ name, args })),
    }),
  };
}

function beyondOf(metadata: Readonly<Record<string, unknown>> | undefined): Beyond {
  const ours = metadata?.[PROVIDER];
  const beyond = isJsonObject(ours) ? ours['beyond'] : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readCompletion` made it
  return isJsonObject(beyond) ? (beyond as unknown as Beyond) : { reasoning: {}, thinking: '' };
}

/**
 * Returns the assistant's messages as the next step sends them back: reasoning under the name in which it came, and
 * thinking that was taken out of the text kept beside it, unsent. Refusals of unusable calls are the run's to word; the
 * library's would quote the whole call again. Servers that parse arguments choke on those of such a call.
 */
export function assistantMessages(
  messages: readonly ModelMessage[],
  { reasoning, thinking }: Beyond,
  invalid: ReadonlySet<string>,
): ModelMessage[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    const content =
      typeof message.content === 'string' || invalid.size === 0
        ? message.content
        : message.content.map((part) =>
            part.type === 'tool-call' && invalid.has(part.toolCallId) && typeof part.input !== 'object'
              ? { ...part, input: {} }
              : part,
          );
    const kept: ProviderOptions = {
      ...message.providerOptions,
      ...(Object.keys(reasoning).length === 0 ? {} : { openaiCompatible: asJson(reasoning) }),
      ...(thinking === '' ? {} : { kept: { thinking } }),
    };
    const isPlain = Object.keys(kept).length === 0;
    return [{ role: message.role, content, ...(isPlain ? {} : { providerOptions: kept }) }];
  });
}

type ProviderOptions = NonNullable<ModelMessage['providerOptions']>;

function asJson(value: object): ProviderOptions[string] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came out of JSON
  return value as ProviderOptions[string];
}

/** Requests a text that fits a JSON Schema. The run checks the text, so the library takes it as it is. */
function textInForm(schema: JsonObject) {
  const form = { ...withoutDialect(schema) };
  const responseFormat = Promise.resolve(jsonSchema(form).jsonSchema).then((json) => ({
    type: 'json' as const,
    schema: json,
    name: 'result',
  }));
  return { ...Output.text(), responseFormat };
}
