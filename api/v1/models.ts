import { z } from 'zod';
import { FIGURE_ORIGINS, MODEL_PROVIDERS, type ModelOption } from '#core/models/directory/index.ts';
import { MODEL_DIALECTS } from '#lib/config/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { anyId, component, dollars } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Models');

export const prices = z
  .strictObject({ input: dollars, output: dollars, cachedInput: dollars.nullable() })
  .nullable()
  .describe(
    'US dollars per token, as decimal strings; null when unknown. If prices depend on the length of the prompt, these are for short prompts.',
  );

const origin = z.enum(FIGURE_ORIGINS).nullable();
const able = z.boolean().nullable();

export const modelAbilities = component(
  'ModelAbilities',
  { structuredOutputs: able, tools: able, parallelToolCalls: able, streaming: able, effort: able },
  {
    description: 'Abilities of the model by its list, its kind of server, a test or earlier calls; null when unknown.',
  },
);

export const modelOption = component('ModelOption', {
  provider: z.enum(MODEL_PROVIDERS),
  connectionId: anyId.nullable(),
  modelId: z.string().describe('With several model sources, most ids begin with the name of their source.'),
  name: z.string(),
  source: z.string().nullable().meta({
    description: 'Name of the model source in `GET /v1/model-sources`; null on a personal account.',
    example: 'ollama',
  }),
  contextTokens: z.number().int().nullable(),
  maxOutputTokens: z.number().int().nullable().describe('The most tokens of one response; null where it is not known.'),
  structuredOutputs: z
    .boolean()
    .describe('True when the request itself enforces a `resultSchema`; otherwise only the prompt states it.'),
  abilities: modelAbilities,
  prices,
  figures: z
    .strictObject({ contextTokens: origin, maxOutputTokens: origin, prices: origin })
    .describe(
      'Where each figure comes from: `list` (its server), `operator`, `local` (a server of the operator’s own, which costs nothing), `learned` (named by its server in a refusal), `by_hand` (entered by the organization), `catalogue` (known to this release); null when unknown.',
    ),
});

const modelSource = component('ModelSource', {
  name: z.string().meta({ example: 'ollama' }),
  label: z.string().meta({ description: 'Name of the source for people.', example: 'Ollama' }),
  dialect: z.enum(MODEL_DIALECTS).describe('The kind of server.'),
  local: z.boolean().describe('True for a server of the operator’s own, whose models cost nothing.'),
  baseUrl: z.string().nullable().meta({ description: 'Address of the source; null in production.', example: null }),
  state: z
    .enum(['ready', 'stale', 'unavailable'])
    .describe('`stale`: the source is away, and its last list is used; `unavailable`: no list has arrived yet.'),
  lastError: z.string().nullable().meta({
    description: 'One sentence about the fault of the last request to the source, and the remedy.',
    example: 'Ollama refused the connection. Is it running?',
  }),
  latencyMs: z.number().int().nullable().describe('Milliseconds that the last list took.'),
  models: z.number().int().describe('Number of models in the last list.'),
  fetchedAt: timestamp.nullable(),
});

const listModels = route('GET /v1/models', {
  id: 'listModels',
  summary: 'List the models that routines can run on',
  description:
    'The live lists of the model sources and of the ready, enabled personal accounts of the project. Two accounts with the same model are two options. While a source is away its last list is used, with `X-Models-Stale: true`.',
  mcp: {
    toolset: 'models',
    view: ['provider', 'connectionId', 'modelId', 'name', 'contextTokens', 'prices'],
  },
  scope: 'models:read',
  success: {
    data: z.array(modelOption),
    description: 'The models.',
    headers: {
      'X-Models-Stale': '`true` when a source cannot be reached, so that its last list is shown.',
      Age: 'Seconds since the oldest of the lists was read.',
    },
  },
  errors: ['models_unavailable'],
}).to(async ({ access, deps }) => {
  const { options, fetchedAt, stale } = await deps.models.list(access.projectId);
  return {
    data: options.map(presentOption),
    headers: {
      'X-Models-Stale': String(stale),
      Age: String(Math.max(Math.floor((Date.now() - fetchedAt.getTime()) / 1_000), 0)),
    },
  };
});

const listModelSources = route('GET /v1/model-sources', {
  id: 'listModelSources',
  summary: 'List the model sources of the service',
  description:
    'The model servers in the order of the configuration, each with its state and the error of its last request. A server that is away does not hide models of the others.',
  scope: 'models:read',
  success: { data: z.array(modelSource), description: 'The sources.' },
}).to(async ({ deps }) => ({
  data: (await deps.models.sources()).map((source) => present(modelSource, source)),
}));

export const modelRoutes: readonly Route[] = [listModels, listModelSources];

export function presentOption(option: ModelOption) {
  return present(modelOption, {
    ...option,
    source: option.served?.source ?? null,
    structuredOutputs: option.abilities.structuredOutputs ?? false,
    abilities: presentAbilities(option),
    figures: option.origins,
  });
}

export function presentAbilities({ abilities }: Pick<ModelOption, 'abilities'>) {
  return {
    structuredOutputs: abilities.structuredOutputs ?? null,
    tools: abilities.tools ?? null,
    parallelToolCalls: abilities.parallelToolCalls ?? null,
    streaming: abilities.streaming ?? null,
    effort: abilities.effort === undefined ? null : abilities.effort !== 'none',
  };
}
