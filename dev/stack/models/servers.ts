import type { ModelDialect } from '#lib/config/index.ts';

/** A provider, found by its key in the environment. */
export interface Provider {
  readonly title: string;
  readonly apiKeyVariable: string;
  readonly baseUrl: string;
  readonly dialect: ModelDialect;
}

/** Providers in the order of preference. Sources: the providers' own pages for OpenAI's library. */
export const PROVIDERS: readonly Provider[] = [
  {
    title: 'OpenRouter',
    apiKeyVariable: 'OPENROUTER_API_KEY',
    baseUrl: 'https://openrouter.ai/api/v1',
    dialect: 'openrouter',
  },
  {
    title: 'OpenAI',
    apiKeyVariable: 'OPENAI_API_KEY',
    baseUrl: 'https://api.openai.com/v1',
    dialect: 'openai',
  },
  {
    title: 'Anthropic',
    apiKeyVariable: 'ANTHROPIC_API_KEY',
    baseUrl: 'https://api.anthropic.com/v1',
    dialect: 'anthropic',
  },
  {
    title: 'Gemini',
    apiKeyVariable: 'GEMINI_API_KEY',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    dialect: 'gemini',
  },
  {
    title: 'Mistral',
    apiKeyVariable: 'MISTRAL_API_KEY',
    baseUrl: 'https://api.mistral.ai/v1',
    dialect: 'mistral',
  },
  {
    title: 'Groq',
    apiKeyVariable: 'GROQ_API_KEY',
    baseUrl: 'https://api.groq.com/openai/v1',
    dialect: 'groq',
  },
];

/** A port of this machine where a model server usually listens. */
export interface LocalPort {
  readonly port: number;
  /** The dialect of a server at this port whose list does not reveal it; `other` if many programs use the port. */
  readonly dialect: ModelDialect;
}

export const LOCAL_PORTS: readonly LocalPort[] = [
  { port: 11_434, dialect: 'ollama' },
  { port: 1234, dialect: 'lm-studio' },
  { port: 8080, dialect: 'other' },
  // The default port of future releases of llama.cpp, as its authors announce.
  { port: 9931, dialect: 'other' },
  { port: 8000, dialect: 'other' },
  { port: 4000, dialect: 'litellm' },
];

/** Servers that compute on the machine itself. LiteLLM may pass calls on to providers that cost money. */
const OWN_SERVERS: Partial<Record<ModelDialect, string>> = {
  ollama: 'Ollama',
  'lm-studio': 'LM Studio',
  'llama.cpp': 'llama.cpp',
  vllm: 'vLLM',
};

export function titleOf(dialect: ModelDialect): string {
  return OWN_SERVERS[dialect] ?? (dialect === 'litellm' ? 'LiteLLM' : 'A model server');
}

export function computesItself(dialect: ModelDialect): boolean {
  return OWN_SERVERS[dialect] !== undefined;
}
