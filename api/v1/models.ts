import { z } from 'zod';
import { MODEL_PROVIDERS, type ModelOption } from '#core/models/index.ts';
import { route, type Route } from '../route.ts';

export const modelReference = z
  .strictObject({
    provider: z.enum(MODEL_PROVIDERS),
    connectionId: z.string().max(64).nullable().default(null),
    modelId: z.string().min(1).max(300),
  })
  .meta({
    id: 'ModelReference',
    description:
      'A model of the live directory: `gateway` with a null connectionId for the managed gateway, or a personal account with its exact connectionId.',
    example: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
  });

const modelOption = z
  .strictObject({
    provider: z.enum(MODEL_PROVIDERS),
    connectionId: z.string().nullable(),
    modelId: z.string(),
    name: z.string(),
    contextTokens: z.number().int().nullable(),
    structuredOutputs: z.boolean().meta({
      description:
        'Whether the model is held to a `resultSchema` by the request itself; others are only told.',
    }),
    prices: z
      .strictObject({ input: z.string(), output: z.string(), cachedInput: z.string().nullable() })
      .nullable()
      .meta({ description: 'US dollars a token, as decimal strings; null where none are quoted.' }),
  })
  .meta({ id: 'ModelOption' });

const listModels = route({
  method: 'GET',
  path: '/v1/models',
  id: 'listModels',
  tag: 'Models',
  summary: 'List the models that routines can run on',
  description:
    'The live list of the managed gateway and of the ready, enabled personal accounts of the project. Two accounts with the same model are two options. While the gateway is away the last list serves on, with `X-Models-Stale: true`.',
  auth: 'key-or-session',
  scope: 'models:read',
  success: {
    status: 200,
    data: z.array(modelOption),
    description: 'The models.',
    headers: {
      'X-Models-Stale': '`true` when the gateway cannot be reached and this is its last list.',
      Age: 'Seconds since the gateway gave this list.',
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

export const modelRoutes: readonly Route[] = [listModels];

function presentOption(option: ModelOption) {
  return {
    provider: option.provider,
    connectionId: option.connectionId,
    modelId: option.modelId,
    name: option.name,
    contextTokens: option.contextTokens,
    structuredOutputs: option.abilities.structuredOutputs ?? false,
    prices: option.prices,
  };
}
