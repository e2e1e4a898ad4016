import type { ModelAbilities, ServedModel } from '#core/clients/gateway/index.ts';
import type { AbilityStore } from '#core/models/directory/index.ts';
import { createModelCaller, type ModelCaller } from '#core/execution/steps/index.ts';
import type { ModelCall, ModelResponse } from '#core/execution/steps/model-call.ts';
import { ONLY_SOURCE, readModelSources, type ModelSource } from '#lib/config/index.ts';

/** Makes a plain response of a model that states a hundred tokens of input. */
export function modelResponse(text: string, { outputTokens = 5 } = {}): ModelResponse {
  return {
    text,
    messages: [],
    toolCalls: [],
    finishReason: 'stop',
    usage: {
      inputTokens: 100,
      cachedInputTokens: 0,
      outputTokens,
      reasoningTokens: 0,
      estimated: false,
    },
  };
}

/** Makes a caller that gives the same response to every call at once. */
export function instantCaller(response: ModelResponse): ModelCaller {
  return {
    timeoutMs: 1_000,
    close: () => Promise.resolve(),
    call: () => Promise.resolve(response),
  };
}

/** Returns the model source of an address, as the configuration makes it. */
export function sourceAt(baseUrl: string, apiKey = 'test'): ModelSource {
  const [source] = readModelSources({ GATEWAY_BASE_URL: baseUrl, GATEWAY_API_KEY: apiKey }).sources;
  return source!;
}

/** Makes a caller of one server. It learns from refusals like a worker, and forgets with the process. */
export function callerAt(
  baseUrl: string,
  { apiKey = 'test', timeoutMs = 600_000, silenceMs = 180_000 } = {},
): ModelCaller {
  const learned = new Map<string, ModelAbilities>();
  const keyOf = ({ modelId }: ServedModel, organizationId: string) => `${organizationId} ${modelId}`;
  const abilities: AbilityStore = {
    of: (model, organizationId) => learned.get(keyOf(model, organizationId)) ?? {},
    learn: async (model, organizationId, lesson) => {
      const key = keyOf(model, organizationId);
      learned.set(key, Object.assign({}, learned.get(key), lesson));
    },
    forget: async (model, organizationId, lesson) => {
      const key = keyOf(model, organizationId);
      const left = Object.entries(learned.get(key) ?? {}).filter(([name]) => !(name in lesson));
      learned.set(key, Object.fromEntries(left));
    },
    refresh: () => Promise.resolve(),
  };
  return createModelCaller({
    sources: [sourceAt(baseUrl, apiKey)],
    abilities,
    timeoutMs,
    silenceMs,
  });
}

/** Makes a call of a model at `sourceAt`. */
export function callOf(modelId: string, call: Partial<ModelCall> = {}): ModelCall {
  return {
    organizationId: 'org',
    modelId,
    served: { source: ONLY_SOURCE, modelId },
    instructions: 'Be brief.',
    messages: [{ role: 'user', content: 'Write one line.' }],
    tools: {},
    signal: new AbortController().signal,
    ...call,
  };
}
