import { readModelSources, type ModelSource } from '#lib/config/index.ts';
import type { ModelCaller } from '#core/runs/index.ts';
import type { ModelResponse } from '#core/runs/model-call.ts';

/** Makes a plain response of a model, which states a hundred tokens of input. */
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

/** Makes a caller that gives the same response to every call, at once. */
export function instantCaller(response: ModelResponse): ModelCaller {
  return {
    timeoutMs: 1_000,
    close: () => Promise.resolve(),
    call: () => Promise.resolve(response),
  };
}

/** Returns the source that the configuration makes of an address, as a process does. */
export function sourceAt(baseUrl: string, apiKey = 'test'): ModelSource {
  const [source] = readModelSources({ GATEWAY_BASE_URL: baseUrl, GATEWAY_API_KEY: apiKey }).sources;
  return source!;
}
