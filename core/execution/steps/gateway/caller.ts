import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, type LanguageModel } from 'ai';
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
import type { Beyond } from './completion.ts';
import { asJson, assistantPart } from '../assistant-messages.ts';
import { NO_REASON } from '../finish-words.ts';
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
  const habits = finishHabits(settings.abilities);
  const keys = new Map(settings.sources.map(({ name, apiKey }) => [name, apiKey]));
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
            const response = await generate(model, learning.call(), signal, (isCounted) =>
              habits.mayLackReason(served, input.organizationId, isCounted),
            );
            await learning.keep(response);
            await habits.remember(served, input.organizationId, response.finishReason);
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
        throw toModelFailure(error, keys.get(served.source));
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

/**
 * Knows which models give no finish reason, from their responses that were whole. Only what is unusual is kept in the
 * database: most models give one, which each process sees for itself.
 */
function finishHabits(abilities: AbilityStore) {
  const given = new Set<string>();
  const keyOf = ({ source, modelId }: ServedModel) => `${source}\n${modelId}`;
  return {
    /** Tells whether a response without a finish reason is whole. @param isCounted its server stated the usage */
    mayLackReason(served: ServedModel, organizationId: string, isCounted: boolean): boolean {
      const { finishReasons } = abilities.of(served, organizationId);
      return finishReasons === undefined ? isCounted && !given.has(keyOf(served)) : !finishReasons;
    },
    /** Remembers the finish reason of a whole response. */
    async remember(served: ServedModel, organizationId: string, word: string): Promise<void> {
      const isGiven = word !== NO_REASON;
      if (isGiven) given.add(keyOf(served));
      const { finishReasons = true } = abilities.of(served, organizationId);
      if (finishReasons !== isGiven) await abilities.learn(served, organizationId, { finishReasons: isGiven });
    },
  };
}

/**
 * Makes one request and reads its response.
 * @param mayLackReason tells whether a response without a finish reason is whole
 * @throws what the library throws
 */
async function generate(
  served: ServedLanguageModel,
  call: ModelCall,
  abortSignal: AbortSignal,
  mayLackReason: (isCounted: boolean) => boolean,
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
  const { reasoning, finishWord, hasUsage } = beyondOf(generated.providerMetadata);
  if (finishWord === null && !mayLackReason(hasUsage)) throw withoutReason();
  const reasoned = Object.values(reasoning).filter((text) => typeof text === 'string');
  const { text, messages } = assistantPart(generated.text, exact.inMessages(generated.response.messages), {
    reasoning,
    reasons: Object.keys(reasoning).length > 0,
    beginsInside: abilities?.beginsInThinking,
  });
  const toolCalls = generated.toolCalls.map((each) => ({
    callId: each.toolCallId,
    name: each.toolName,
    ...exact.read(each),
  }));
  return {
    text: storable(text),
    messages: asStored(messages),
    toolCalls: toolCalls.map((each) => ({ ...each, input: asStored(each.input) })),
    finishReason: finishWord ?? NO_REASON,
    usage: usageOf(call, {
      stated: {
        inputTokens: generated.usage.inputTokens,
        cachedInputTokens: generated.usage.inputTokenDetails.cacheReadTokens,
        outputTokens: generated.usage.outputTokens,
        reasoningTokens: generated.usage.outputTokenDetails.reasoningTokens,
      },
      texts: [generated.text, ...reasoned.slice(0, 1)],
      calls: toolCalls.map(({ name, input: args }) => ({ name, args })),
    }),
  };
}

function beyondOf(metadata: Readonly<Record<string, unknown>> | undefined): Beyond {
  const ours = metadata?.[PROVIDER];
  const beyond = isJsonObject(ours) ? ours['beyond'] : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readCompletion` made it
  return isJsonObject(beyond) ? (beyond as unknown as Beyond) : { reasoning: {}, finishWord: null, hasUsage: false };
}

function withoutReason(): ModelFailure {
  const message = 'The model provider ended its response without a finish reason.';
  return new ModelFailure('model_unreachable', message, { retryable: true, cutOff: true });
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
