import { expect, test } from 'vitest';
import { readGatewayList } from '#core/clients/gateway/read-list.ts';
import { seenSource } from '#core/clients/gateway/index.ts';
import { sourcedModel, optionOf } from '#core/models/directory/source.ts';
import { costOf } from '#core/foundation/cost/index.ts';
import { readModelSources, type ModelDialect, type ModelSource } from '#lib/config/index.ts';
import { sourceAt } from '#test/support/model-caller.ts';

/** Returns the models that the directory makes from a source's list. */
function optionsOf(source: ModelSource, data: readonly unknown[]) {
  const listed = readGatewayList({ object: 'list', data }, source.dialect);
  const seen = seenSource(source, listed.dialect);
  return listed.models.map((model) => optionOf(sourcedModel(seen, model), model.id, { learned: {} }));
}

function source(dialect: ModelDialect, fields: Partial<ModelSource> = {}): ModelSource {
  return { ...sourceAt('https://models.example/v1'), name: dialect, dialect, ...fields };
}

test.each<[ModelDialect, object, object]>([
  [
    'llama.cpp',
    { id: 'smollm2', owned_by: 'llamacpp', meta: { n_ctx: 8_192, n_ctx_train: 16_384 } },
    { contextTokens: 8_192 },
  ],
  ['llama.cpp', { id: 'smollm2', meta: { n_ctx_train: 16_384 } }, { contextTokens: 16_384 }],
  [
    'litellm',
    { id: 'team-model', mode: 'chat', max_input_tokens: 200_000, max_output_tokens: 64_000 },
    { contextTokens: 200_000, maxOutputTokens: 64_000 },
  ],
  [
    'litellm',
    {
      id: 'team-model',
      model_info: {
        mode: 'chat',
        max_input_tokens: 1_000,
        input_cost_per_token: 0.000001,
        output_cost_per_token: 0.000002,
        supports_function_calling: true,
      },
    },
    {
      contextTokens: 1_000,
      prices: { input: '0.000001', output: '0.000002', cachedInput: null },
      abilities: { tools: true },
    },
  ],
  ['vllm', { id: 'Qwen/Qwen3-8B', max_model_len: 40_960 }, { contextTokens: 40_960 }],
  [
    'mistral',
    {
      id: 'ministral-8b',
      type: 'base',
      max_context_length: 131_072,
      capabilities: { completion_chat: true, function_calling: true },
    },
    { contextTokens: 131_072, abilities: { tools: true } },
  ],
  [
    'lm-studio',
    { id: 'gemma', type: 'vlm', max_context_length: 131_072, loaded_context_length: 4_096 },
    { contextTokens: 4_096 },
  ],
  [
    'groq',
    { id: 'allam-2-7b', active: true, context_window: 4_096, max_completion_tokens: 2_048 },
    { contextTokens: 4_096, maxOutputTokens: 2_048 },
  ],
  [
    'openrouter',
    {
      id: 'acme/writer',
      name: 'Acme: Writer',
      context_length: 64_000,
      architecture: { output_modalities: ['text'] },
      top_provider: { context_length: 64_000, max_completion_tokens: 8_000 },
      supported_parameters: ['tools', 'structured_outputs'],
      pricing: { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' },
    },
    {
      name: 'Acme: Writer',
      contextTokens: 64_000,
      maxOutputTokens: 8_000,
      abilities: { tools: true, structuredOutputs: true },
      prices: { input: '0.000001', output: '0.000002', cachedInput: '0.0000001' },
    },
  ],
  [
    'anthropic',
    { type: 'model', id: 'claude-x', display_name: 'Claude X', max_input_tokens: 200_000 },
    { name: 'Claude X', contextTokens: 200_000 },
  ],
  ['gemini', { id: 'models/gemini-next', owned_by: 'google' }, { modelId: 'gemini-next' }],
])('the list of %s gives %j', (dialect, entry, expected) => {
  const [option] = optionsOf(source(dialect), [entry]);
  expect(option).toMatchObject(expected);
});

test.each<[ModelDialect, object]>([
  ['openai', { id: 'text-embedding-3-small' }],
  ['openai', { id: 'whisper-1' }],
  ['openai', { id: 'gpt-4o-mini-tts' }],
  ['openai', { id: 'dall-e-3' }],
  ['openai', { id: 'gpt-image-1' }],
  ['openai', { id: 'omni-moderation-latest' }],
  ['openai', { id: 'gpt-4o-realtime-preview' }],
  ['openai', { id: 'gpt-4o-transcribe' }],
  ['ollama', { id: 'nomic-embed-text:latest', owned_by: 'library' }],
  ['vllm', { id: 'BAAI/bge-reranker-v2-m3' }],
  ['gemini', { id: 'models/imagen-4.0-generate-001' }],
  ['mistral', { id: 'mistral-ocr', type: 'base', capabilities: { completion_chat: false } }],
  ['azure', { id: 'ada', capabilities: { chat_completion: false, embeddings: true } }],
  ['litellm', { id: 'vectors', mode: 'embedding' }],
  ['litellm', { id: 'vectors', model_info: { mode: 'audio_transcription' } }],
  ['lm-studio', { id: 'vectors', type: 'embeddings' }],
  ['openrouter', { id: 'acme/painter', architecture: { output_modalities: ['image'] } }],
  ['groq', { id: 'retired', active: false }],
])('%s: %j writes no text and is left out', (dialect, entry) => {
  expect(optionsOf(source(dialect), [entry, { id: 'writer' }])).toHaveLength(1);
});

test.each<[string, object]>([
  ['its kind', { id: 'image-writer', type: 'chat' }],
  ['its output', { id: 'acme/realtime', architecture: { output_modalities: ['text', 'image'] } }],
  ['its mode', { id: 'tts-writer', mode: 'chat' }],
  ['no part of a word', { id: 'bitts' }],
])('a model is kept by %s, although its id looks like another kind', (_why, entry) => {
  expect(optionsOf(source('other'), [entry])).toHaveLength(1);
});

test('an id that stands twice is one model, and a context of 0 is unknown', () => {
  const options = optionsOf(source('other'), [
    { id: 'same', context_length: 0 },
    { id: 'same', context_length: 4_096 },
    { id: 'other', context_length: '8k' },
  ]);
  expect(options.map(({ modelId, contextTokens }) => [modelId, contextTokens])).toEqual([
    ['same', null],
    ['other', null],
  ]);
});

test('a bare array is a list too', () => {
  const { models } = readGatewayList([{ id: 'one' }, { id: 'two' }], 'other');
  expect(models.map(({ id }) => id)).toEqual(['one', 'two']);
});

test('a price in another unit than a token, and a cached input that is dearer, are unknown', () => {
  const [perMillion, dearer] = optionsOf(source('other'), [
    { id: 'a', pricing: { input: 0.88, output: 0.88 } },
    { id: 'b', pricing: { prompt: '0.000001', completion: '0', input_cache_read: '0.000002' } },
  ]);
  expect(perMillion?.prices).toBeNull();
  expect(dearer?.prices).toEqual({ input: '0.000001', output: '0', cachedInput: null });
});

test.each<[string, object, object]>([
  [
    'overrides',
    {
      prompt: '0.000001',
      completion: '0.000002',
      overrides: [{ min_prompt_tokens: 1_001, prompt: '0.000003', completion: '0.000004' }],
    },
    { inputTokens: 1_000, input: '0.000003', output: '0.000004' },
  ],
  [
    'tiers',
    {
      input: '0.000001',
      output: '0.000002',
      input_tiers: [
        { cost: '0.000001', min: 0 },
        { cost: '0.000003', min: 1_001 },
      ],
      output_tiers: [
        { cost: '0.000002', min: 0 },
        { cost: '0.000004', min: 1_001 },
      ],
    },
    { inputTokens: 1_000, input: '0.000003', output: '0.000004' },
  ],
])('prices of long prompts are read from %s, and a step costs by its own length', (_form, pricing, above) => {
  const [option] = optionsOf(source('other'), [{ id: 'a', pricing }]);
  expect(option?.prices).toMatchObject({ input: '0.000001', output: '0.000002', above });
  const cost = (inputTokens: number) =>
    costOf({ inputTokens, cachedInputTokens: 0, outputTokens: 100, reasoningTokens: 0 }, option?.prices ?? null);
  expect([cost(1_000), cost(1_001)]).toEqual(['0.0012', '0.003403']);
});

test('a price of the catalogue by the length of the prompt is kept as such', () => {
  const [option] = optionsOf(source('gemini'), [{ id: 'models/gemini-2.5-pro' }]);
  expect(option?.prices).toMatchObject({
    input: '0.00000125',
    above: { inputTokens: 200_000, input: '0.0000025', output: '0.000015' },
  });
});

test('what a list lacks comes from the catalogue of its provider, and says so', () => {
  const [option] = optionsOf(source('openai'), [{ id: 'gpt-4o-mini' }]);
  expect(option).toMatchObject({
    contextTokens: 128_000,
    prices: { input: '0.00000015', output: '0.0000006', cachedInput: '0.000000075' },
    origins: { contextTokens: 'catalogue', maxOutputTokens: null, prices: 'catalogue' },
  });
  const [gemini] = optionsOf(source('gemini'), [{ id: 'models/gemini-2.5-flash' }]);
  expect(gemini?.origins.prices).toBe('catalogue');
  const [elsewhere] = optionsOf(source('litellm'), [{ id: 'gpt-4o-mini' }]);
  expect(elsewhere?.origins).toEqual({ contextTokens: null, maxOutputTokens: null, prices: null });
});

test("the list's own figures win, then the operator's, then the catalogue's", () => {
  const figures = {
    'gpt-4o-mini': { contextTokens: 1, maxOutputTokens: 2, prices: { input: '0', output: '0' } },
  };
  const [option] = optionsOf(source('openai', { figures }), [{ id: 'gpt-4o-mini', context_length: 64_000 }]);
  expect(option).toMatchObject({
    contextTokens: 64_000,
    maxOutputTokens: 2,
    prices: { input: '0', output: '0', cachedInput: null },
    origins: { contextTokens: 'list', maxOutputTokens: 'operator', prices: 'operator' },
  });
});

test('a server of its own costs nothing, whether the operator says so or its list at a private address', () => {
  const entry = { id: 'llama3.2:3b', owned_by: 'library' };
  const [said] = optionsOf(source('ollama', { free: true }), [entry]);
  expect(said).toMatchObject({
    prices: { input: '0', output: '0', cachedInput: null },
    origins: { prices: 'local' },
  });
  const [seen] = optionsOf(sourceAt('http://127.0.0.1:11434/v1'), [entry]);
  expect(seen).toMatchObject({
    origins: { prices: 'local' },
    abilities: { structuredOutputs: true },
  });
  const [sold] = optionsOf(sourceAt('https://models.example/v1'), [entry]);
  expect(sold?.prices).toBeNull();
});

test('a figure that the server has named outweighs its list, or fills it', () => {
  const listed = readGatewayList({ data: [{ id: 'a', max_tokens: 9_000 }] }, 'other').models[0]!;
  const learned = { maxOutputTokens: 100, contextTokens: 200 };
  const option = optionOf(sourcedModel(seenSource(source('other'), undefined), listed), 'a', {
    learned,
    byHand: { contextTokens: 300 },
  });
  expect(option).toMatchObject({ maxOutputTokens: 100, contextTokens: 200 });
  expect(option.origins).toMatchObject({ maxOutputTokens: 'learned', contextTokens: 'learned' });
});

test('the only source names the variable of its key', () => {
  const { sources } = readModelSources({ GATEWAY_BASE_URL: 'https://models.example/v1/' });
  expect(sources).toMatchObject([{ baseUrl: 'https://models.example/v1', apiKeyVariable: 'GATEWAY_API_KEY' }]);
});
