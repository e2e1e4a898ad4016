import { outputLimitOf } from './models.ts';
import type { FixtureModel } from './models.ts';

const CREATED = 1_767_225_600;

/** The list of models as each kind of server writes it. It also contains models for other purposes. */
export const LISTS = {
  fixture: (models) => listOf(models.map(fixtureEntry)),
  openai: (models) => {
    const entry = (id: string) => ({ ...plain(id), owned_by: 'system' });
    const ids = models.map(({ id }) => id);
    return listOf(['text-embedding-3-large', 'whisper-1', ...ids, ...NO_CHAT_MODELS].map(entry));
  },
  'llama.cpp': (models) => ({
    models: models.map(({ id }) => ({
      name: id,
      model: id,
      type: 'model',
      capabilities: ['completion'],
      details: { format: 'gguf' },
    })),
    ...listOf(
      models.map(({ id, context_length }) => ({
        id,
        aliases: [],
        tags: [],
        object: 'model',
        created: CREATED,
        owned_by: 'llamacpp',
        meta: {
          vocab_type: 1,
          n_vocab: 49_152,
          n_ctx: context_length,
          n_ctx_train: context_length * 4,
          n_embd: 576,
          n_params: 134_515_008,
          size: 97_500_000,
        },
      })),
    ),
  }),
  vllm: (models) =>
    listOf(
      models.map(({ id, context_length }) => ({
        ...plain(id),
        owned_by: 'vllm',
        root: id,
        parent: null,
        max_model_len: context_length,
        permission: [{ id: 'modelperm-fixture', object: 'model_permission', allow_sampling: true }],
      })),
    ),
  mistral: (models) =>
    listOf(
      [...models, { id: 'mistral-embed', name: 'Mistral Embed', context_length: 8_192 }].map(
        ({ id, name, context_length }) => ({
          ...plain(id),
          owned_by: 'mistralai',
          capabilities: {
            completion_chat: id !== 'mistral-embed',
            completion_fim: false,
            function_calling: id !== 'mistral-embed',
            fine_tuning: false,
            vision: false,
          },
          name,
          description: `Official ${name} Mistral AI model`,
          max_context_length: context_length,
          aliases: [],
          deprecation: null,
          default_model_temperature: 0.3,
          type: 'base',
        }),
      ),
    ),
  groq: (models) =>
    listOf([
      ...models.map((model) => ({
        ...plain(model.id),
        owned_by: 'Fixture',
        active: true,
        context_window: model.context_length,
        public_apps: null,
        max_completion_tokens: outputLimitOf(model),
      })),
      {
        ...plain('whisper-large-v3'),
        owned_by: 'OpenAI',
        active: true,
        context_window: 448,
        public_apps: null,
        max_completion_tokens: 448,
      },
    ]),
  openrouter: (models) => ({ data: models.map(openrouterEntry) }),
  ollama: (models) => listOf(models.map(({ id }) => ({ ...plain(id), owned_by: 'library' }))),
  gemini: (models) =>
    listOf([
      ...models.map(({ id, name }) => ({
        id,
        object: 'model',
        owned_by: 'google',
        display_name: name,
      })),
      { id: 'models/gemini-embedding-001', object: 'model', owned_by: 'google' },
    ]),
  deepseek: (models) => listOf(models.map(({ id }) => ({ id, object: 'model', owned_by: 'deepseek' }))),
  litellm: (models) =>
    listOf([
      ...models.map((model) => ({
        ...plain(model.id),
        owned_by: 'openai',
        max_input_tokens: model.context_length,
        max_output_tokens: outputLimitOf(model),
        mode: 'chat',
      })),
      { ...plain('text-embedding-3-small'), owned_by: 'openai', mode: 'embedding' },
    ]),
  'lm-studio': (models) =>
    listOf(
      [...models.map(({ id }) => id), 'text-embedding-nomic-embed-text-v1.5'].map((id) => ({
        id,
        object: 'model',
        owned_by: 'organization_owner',
      })),
    ),
} satisfies Record<string, (models: readonly FixtureModel[]) => object>;

export type Dialect = keyof typeof LISTS;

/** Second lists of models, which some servers have at another address, with more fields for each model. */
export const FURTHER_LISTS: Readonly<
  Record<string, { dialect: Dialect; body: (models: readonly FixtureModel[]) => object }>
> = {
  '/model/info': {
    dialect: 'litellm',
    body: (models) => ({
      data: models.map((model) => ({
        model_name: model.id,
        litellm_params: { model: model.id },
        model_info: {
          id: model.id,
          db_model: false,
          key: model.id,
          max_tokens: outputLimitOf(model),
          max_input_tokens: model.context_length,
          max_output_tokens: outputLimitOf(model),
          input_cost_per_token: ratesOf(model)?.prompt ?? null,
          output_cost_per_token: ratesOf(model)?.completion ?? null,
          litellm_provider: 'openai',
          mode: 'chat',
          supports_function_calling: true,
          supports_response_schema: model.structured ?? false,
        },
      })),
    }),
  },
  '/api/v0/models': {
    dialect: 'lm-studio',
    body: (models) =>
      listOf(
        models.map(({ id, context_length }) => ({
          id,
          object: 'model',
          type: 'llm',
          publisher: 'fixture',
          arch: 'llama',
          compatibility_type: 'gguf',
          quantization: 'Q4_K_M',
          state: 'loaded',
          max_context_length: context_length * 4,
          loaded_context_length: context_length,
        })),
      ),
  },
};

const NO_CHAT_MODELS =
  'tts-1-hd dall-e-3 gpt-image-1 omni-moderation-latest gpt-realtime gpt-4o-transcribe davinci-002 sora-2'.split(' ');

export function listOf(data: readonly unknown[]): { object: 'list'; data: readonly unknown[] } {
  return { object: 'list', data };
}

function plain(id: string) {
  return { id, object: 'model', created: CREATED };
}

function fixtureEntry(model: FixtureModel): object {
  return {
    ...plain(model.id),
    owned_by: 'fixture',
    name: model.name,
    context_length: model.context_length,
    supported_parameters: [
      'tools',
      'tool_choice',
      'max_tokens',
      'temperature',
      ...(model.reasons === true ? ['reasoning', 'reasoning_effort'] : []),
      ...(model.structured === true ? ['response_format', 'structured_outputs'] : []),
    ],
    ...(model.pricing ? { pricing: model.pricing } : {}),
  };
}

function openrouterEntry(model: FixtureModel): object {
  const rates = ratesOf(model);
  return {
    id: model.id,
    canonical_slug: model.id,
    hugging_face_id: '',
    name: model.name,
    created: CREATED,
    description: '',
    context_length: model.context_length,
    architecture: {
      modality: 'text->text',
      input_modalities: ['text'],
      output_modalities: ['text'],
      tokenizer: 'Other',
      instruct_type: null,
    },
    // The price of a router depends on the model that the router chooses, so the list states -1.
    pricing: {
      prompt: rates?.prompt ?? '-1',
      completion: rates?.completion ?? '-1',
      ...(rates?.cached === undefined ? {} : { input_cache_read: rates.cached }),
      request: '0',
      image: '0',
    },
    top_provider: {
      context_length: model.context_length,
      max_completion_tokens: outputLimitOf(model),
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: [
      'max_tokens',
      'temperature',
      'tools',
      'tool_choice',
      ...(model.reasons === true ? ['reasoning', 'include_reasoning'] : []),
      ...(model.structured === true ? ['response_format', 'structured_outputs'] : []),
    ],
  };
}

function ratesOf({ pricing }: FixtureModel) {
  if (pricing === undefined) return undefined;
  const cached = pricing.input_cache_read;
  return 'prompt' in pricing
    ? { prompt: pricing.prompt, completion: pricing.completion, cached }
    : { prompt: pricing.input, completion: pricing.output, cached };
}
