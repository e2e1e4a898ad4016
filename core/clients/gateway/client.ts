import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, type LanguageModel } from 'ai';
import { Agent } from 'undici';
import { withExactArguments } from '#lib/exact-json/call-arguments.ts';
import type { ModelSource } from '#lib/config/index.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { asJson, assistantPart } from './assistant-part.ts';
import { withoutDialect, type GatewayCall, type GatewayResponse, type ServedModel } from './call.ts';
import type { Beyond } from './completion.ts';
import { GatewayFailure } from './failure.ts';
import { NO_REASON } from './finish-words.ts';
import { learnRefusals, type AbilityMemory } from './learning.ts';
import { causeOf, Refusal, toGatewayFailure } from './refusal.ts';
import { adaptRequest, gatewayFetch, streamListener } from './request.ts';
import { saidSoFar } from './thinking.ts';
import { usageOf } from './tokens.ts';

export interface GatewaySettings {
  readonly sources: readonly ModelSource[];
  readonly timeoutMs: number;
  /** Longest silence of a response that is streamed. */
  readonly silenceMs: number;
}

export interface GatewayClient {
  /** @throws {GatewayFailure}, or the signal's reason when it was aborted */
  call(served: ServedModel, input: GatewayCall, memory: AbilityMemory): Promise<GatewayResponse>;
  close(): Promise<void>;
}

/**
 * Calls models of the sources over OpenAI's chat completions, without the library's own retries. When a server refuses
 * a request because of an optional field, the request is sent again at once without it; the lesson is remembered if
 * that request is accepted.
 */
export function createGatewayClient({ sources, timeoutMs, silenceMs }: GatewaySettings): GatewayClient {
  // A model may think for minutes before its first byte; only silence and the call's own deadline limit it.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
  const providers = new Map(sources.map((source) => [source.name, providerOf(source, agent, silenceMs)]));
  // Models are cached, because making a model builds its schemas, which costs more than the rest of a call. The
  // directory limits the number of models.
  const models = new Map<string, ServedLanguageModel>();
  const habits = finishHabits();
  const keys = new Map(sources.map(({ name, apiKey }) => [name, apiKey]));
  const modelOf = ({ source, modelId }: ServedModel) => {
    const key = `${source}/${modelId}`;
    const model = models.get(key) ?? providers.get(source)?.(modelId);
    if (model === undefined) {
      const message = `The model source ${source} is not configured.`;
      throw new GatewayFailure('unreachable', message, { retryable: false });
    }
    models.set(key, model);
    return model;
  };
  return {
    async call(served, input, memory) {
      const model = modelOf(served);
      // Use a separate timer: that of `AbortSignal.timeout` runs on after the call and keeps its async context alive.
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      const signal = AbortSignal.any([input.signal, deadline.signal]);
      const learning = learnRefusals(input, memory);
      try {
        input.onSend?.();
        for (;;) {
          try {
            const response = await generate(model, learning.call(), signal, (isCounted) =>
              habits.mayLackReason(served, memory, isCounted),
            );
            await learning.keep(response.usage.outputTokens);
            await habits.remember(served, memory, response.finishReason);
            return response;
          } catch (error) {
            if (signal.aborted || !learning.learn(causeOf(error, Refusal))) throw error;
          }
        }
      } catch (error) {
        if (input.signal.aborted) throw input.signal.reason;
        if (deadline.signal.aborted) {
          const message = `The model gave no answer in ${timeoutMs / 1_000} s.`;
          throw new GatewayFailure('unreachable', message, { retryable: true, cutOff: true });
        }
        throw toGatewayFailure(error, keys.get(served.source));
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
    // Each call has abilities and effort among its options. Remove them, because the library would send them.
    transformRequestBody: ({ abilities = {}, effort, ...body }) => adaptRequest(body, abilities, effort),
    metadataExtractor: {
      extractMetadata: ({ parsedBody }) =>
        Promise.resolve(
          isJsonObject(parsedBody) ? { [PROVIDER]: asJson({ beyond: parsedBody['beyond'] }) } : undefined,
        ),
      createStreamExtractor: () => ({ processChunk: () => undefined, buildMetadata: () => undefined }),
    },
  });
}

type ServedLanguageModel = Exclude<LanguageModel, string>;

const PROVIDER = 'gateway';

/**
 * Learns from complete responses which models give no finish reason. Only those models are stored in the database; each
 * process notices by itself that a model gives finish reasons.
 */
function finishHabits() {
  const given = new Set<string>();
  const keyOf = ({ source, modelId }: ServedModel) => `${source}\n${modelId}`;
  return {
    /**
     * Tells whether a response without a finish reason is complete. @param isCounted true if the server stated the
     * usage
     */
    mayLackReason(served: ServedModel, memory: AbilityMemory, isCounted: boolean): boolean {
      const { finishReasons } = memory.known();
      return finishReasons === undefined ? isCounted && !given.has(keyOf(served)) : !finishReasons;
    },
    /** Remembers the finish reason of a complete response. */
    async remember(served: ServedModel, memory: AbilityMemory, word: string): Promise<void> {
      const isGiven = word !== NO_REASON;
      if (isGiven) given.add(keyOf(served));
      const { finishReasons = true } = memory.known();
      if (finishReasons !== isGiven) await memory.learn({ finishReasons: isGiven });
    },
  };
}

/**
 * Makes one request and reads its response.
 * @param mayLackReason tells whether a response without a finish reason is complete
 * @throws errors of the library
 */
async function generate(
  served: ServedLanguageModel,
  call: GatewayCall,
  abortSignal: AbortSignal,
  mayLackReason: (isCounted: boolean) => boolean,
): Promise<GatewayResponse> {
  const { maxOutputTokens, resultSchema, abilities, effort, onStream } = call;
  const exact = withExactArguments(served);
  const listen =
    onStream && ((content: () => string) => onStream(() => saidSoFar(content(), abilities?.beginsInThinking)));
  const request: Parameters<typeof generateText>[0] = {
    model: exact.model,
    instructions: call.instructions,
    messages: [...call.messages],
    tools: call.tools,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(resultSchema === undefined ? {} : { output: textInForm(resultSchema) }),
    // Leave strict mode off, because it allows only a part of JSON Schema.
    providerOptions: {
      [PROVIDER]: { strictJsonSchema: false, abilities: { ...abilities }, ...(effort && { effort }) },
    },
    maxRetries: 0,
    abortSignal,
  };
  const generated = await streamListener.run(listen, () => generateText(request));
  const { reasoning, finishWord, hasUsage } = beyondOf(generated.providerMetadata);
  if (finishWord === null && !mayLackReason(hasUsage)) {
    const message = 'The model provider ended its response without a finish reason.';
    throw new GatewayFailure('unreachable', message, { retryable: true, cutOff: true });
  }
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
  const { usage } = generated;
  return {
    text,
    messages,
    toolCalls,
    finishReason: finishWord ?? NO_REASON,
    usage: usageOf(
      call,
      {
        inputTokens: usage.inputTokens,
        cachedInputTokens: usage.inputTokenDetails.cacheReadTokens,
        outputTokens: usage.outputTokens,
        reasoningTokens: usage.outputTokenDetails.reasoningTokens,
      },
      { texts: [generated.text, ...reasoned.slice(0, 1)], calls: toolCalls },
    ),
  };
}

function beyondOf(metadata: Readonly<Record<string, unknown>> | undefined): Beyond {
  const ours = metadata?.[PROVIDER];
  const beyond = isJsonObject(ours) ? ours['beyond'] : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readCompletion` made it
  return isJsonObject(beyond) ? (beyond as unknown as Beyond) : { reasoning: {}, finishWord: null, hasUsage: false };
}

/** Asks for text in a form. The library accepts any text, because the run itself checks the text against the schema. */
function textInForm(schema: JsonObject) {
  const responseFormat = Promise.resolve(jsonSchema(withoutDialect(schema)).jsonSchema).then((json) => ({
    type: 'json' as const,
    schema: json,
    name: 'result',
  }));
  return { ...Output.text(), responseFormat };
}
