import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel, streamText } from 'ai';
import type { Protocol } from '#lib/provider-file/protocols.ts';
import type { LimitWords } from './classify.ts';

/** Input of a session, one line on its standard input. It contains no credential. */
export interface SessionJob {
  readonly protocol: Protocol;
  /** The only path that the broker accepts. */
  readonly path: string;
  readonly modelId: string;
  readonly instructions: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: Readonly<Record<string, unknown>>;
  }[];
  readonly maxOutputTokens: number | null;
  /** JSON Schema of the text; missing for any text. */
  readonly resultSchema?: Readonly<Record<string, unknown>>;
  readonly options: {
    readonly stream: 'with_usage' | 'plain';
    readonly omit: readonly string[];
    readonly toolNamespace?: string | undefined;
  };
  readonly limits: LimitWords;
  /** Silence of the model that ends the step. Bytes that only keep the connection alive do not count. */
  readonly idleMs: number;
}

type StreamOptions = Pick<Parameters<typeof streamText>[0], 'instructions' | 'providerOptions'>;

/** Placeholder for the address of the provider, which only the broker has. */
const BASE_URL = 'http://broker.internal';
const NO_KEY = 'none';

/** Opens the model library's model for the provider's protocol, with the place of the instructions. */
export function openModel(
  job: SessionJob,
  fetch: typeof globalThis.fetch,
): { readonly model: Exclude<LanguageModel, string> } & StreamOptions {
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
        // The provider stores nothing: each step sends the transcript.
        providerOptions: { openai: { store: false, instructions, strictJsonSchema: false } },
      };
    case 'anthropic-messages':
      return {
        model: createAnthropic({ baseURL: BASE_URL, apiKey: NO_KEY, fetch })(modelId),
        instructions,
      };
  }
}
