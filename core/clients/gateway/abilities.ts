import type { ModelDialect } from '#lib/config/index.ts';

/** Levels of thinking before a model writes. */
export const EFFORTS = ['low', 'medium', 'high'] as const;
export type Effort = (typeof EFFORTS)[number];

/**
 * Facts about a model's server that decide which fields a request may have. A missing fact is unknown: the request then
 * has the field, and if the server's refusal names the field, the fact is remembered.
 */
export interface ModelAbilities {
  /** True if `response_format` may contain a JSON Schema. */
  readonly structuredOutputs?: boolean;
  readonly tools?: boolean;
  /** True if a turn may contain several calls. If false, turns of old transcripts are split. */
  readonly parallelToolCalls?: boolean;
  /** True if a request may have the field `parallel_tool_calls`, which limits the server to one call. */
  readonly parallelToolCallsField?: boolean;
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens' | 'none';
  readonly streaming?: boolean;
  /** True if a request may have the field `stream_options.include_usage`. */
  readonly streamUsage?: boolean;
  /** True if a request that offers no tools may contain calls of earlier steps. */
  readonly callsWithoutTools?: boolean;
  /** True if reasoning of earlier steps may be sent back. */
  readonly reasoningBack?: boolean;
  /** True if a message of the role `system` may come first. */
  readonly systemRole?: boolean;
  /** True if a response may begin inside its thinking, because the server's chat template writes the opening tag. */
  readonly beginsInThinking?: boolean;
  /** True if complete responses of the model give a finish reason. */
  readonly finishReasons?: boolean;
  /** Field that sets the level of thinking; `none` for a model that takes no level. */
  readonly effort?: 'reasoning_effort' | 'reasoning' | 'chat_template_kwargs' | 'none';
  /** The most output tokens that the server named in a refusal. */
  readonly maxOutputTokens?: number;
  /** The context window that the server named in a refusal. */
  readonly contextTokens?: number;
  /** Schemas that the server refused for their content, by their hash. */
  readonly [schema: `schema ${string}`]: false;
}

/** Abilities assumed of a dialect until its server has been asked. Source: the servers' own API references. */
export const ABILITIES_OF_DIALECT: Readonly<Record<ModelDialect, ModelAbilities>> = {
  openai: { outputLimit: 'max_completion_tokens', structuredOutputs: true },
  azure: { outputLimit: 'max_completion_tokens', structuredOutputs: true },
  // Anthropic's compatible endpoint ignores `response_format` and `reasoning_effort`.
  anthropic: { structuredOutputs: false, effort: 'none' },
  gemini: { structuredOutputs: true },
  mistral: { structuredOutputs: true, reasoningBack: false },
  groq: { reasoningBack: false },
  openrouter: { effort: 'reasoning' },
  litellm: {},
  'llama.cpp': { structuredOutputs: true, beginsInThinking: true, effort: 'chat_template_kwargs' },
  vllm: { structuredOutputs: true, beginsInThinking: true },
  ollama: { structuredOutputs: true, beginsInThinking: true },
  'lm-studio': { structuredOutputs: true, beginsInThinking: true },
  other: {},
};
