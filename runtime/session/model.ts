import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel, streamText } from 'ai';
import type { SessionJob } from './job.ts';

type StreamOptions = Pick<Parameters<typeof streamText>[0], 'instructions' | 'providerOptions'>;

/** Address that only has to look like one: the broker knows where the provider is, and holds the credential. */
const BASE_URL = 'http://broker.internal';
const NO_KEY = 'none';

/** Opens the model library's model for the provider's protocol, and says where that protocol wants the instructions. */
export function openModel(
  job: SessionJob,
  fetch: typeof globalThis.fetch,
): { readonly model: LanguageModel } & StreamOptions {
  const { modelId, instructions } = job;
  switch (job.protocol) {
    case 'openai-chat':
      return {
        model: createOpenAICompatible({
          name: 'provider',
          baseURL: BASE_URL,
          includeUsage: job.options.stream === 'with_usage',
          supportsStructuredOutputs: job.resultSchema !== undefined,
          fetch,
        })(modelId),
        instructions,
        providerOptions: { provider: { strictJsonSchema: false } },
      };
    case 'openai-responses':
      return {
        model: createOpenAI({ baseURL: BASE_URL, apiKey: NO_KEY, fetch }).responses(modelId),
        // Nothing is kept at the provider: the transcript is sent with each step.
        providerOptions: { openai: { store: false, instructions, strictJsonSchema: false } },
      };
    case 'anthropic-messages':
      return {
        model: createAnthropic({ baseURL: BASE_URL, apiKey: NO_KEY, fetch })(modelId),
        instructions,
      };
  }
}
