import { z } from 'zod';
import { component } from '../http/schemas.ts';
import { patchFigures, type ModelOption } from '#core/models/directory/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import type { ProjectSessionAccess } from '../access.ts';
import type { Deps } from '../deps.ts';
import { routesOf, type Route } from '../route.ts';
import { modelOption, presentOption } from './models.ts';

/** A price of at most a dollar per token, with as many digits as any server sends. */
const price = z
  .string()
  .regex(/^(0(\.\d{1,15})?|1)$/, 'expected US dollars a token, as a decimal string of at most 1')
  .meta({ example: '0.00000015' });

const tokens = z.int().min(1).max(100_000_000).nullable();

export const modelId = z
  .string()
  .min(1)
  .max(300)
  .meta({ description: 'The id of a model of a source.', example: 'fixture/writer-small' });

const figuresPatch = component('UpdateModelFigures', {
  modelId,
  contextTokens: tokens.optional().meta({ example: 32_768 }),
  maxOutputTokens: tokens.optional(),
  prices: z
    .strictObject({ input: price, output: price, cachedInput: price.nullable().default(null) })
    .nullable()
    .optional(),
});

const updateModelFigures = routesOf('Models')('PATCH /v1/model-figures', {
  id: 'updateModelFigures',
  summary: 'Enter the context window, output limit or prices of a model by hand',
  description:
    'Sets figures that neither the model’s server nor the operator states, for the whole organization. Needs the role owner or admin. A missing field keeps its value; null removes it. If the operator limits the spending of organizations, only the operator can set prices (403).',
  auth: 'project-session',
  body: figuresPatch,
  success: { data: modelOption, description: 'The model as it is now.' },
  errors: ['invalid_model', 'forbidden', 'limit_reached', 'models_unavailable'],
}).to(async ({ access, by, body, deps }) => {
  const { modelId: id, ...patch } = body;
  const { organizationId } = access;
  // JSON Schema cannot compare two values of a document, so this check is code.
  if (Number(patch.prices?.cachedInput ?? 0) > Number(patch.prices?.input ?? 1)) {
    const message = 'must not be above the price of other input';
    throw invalid([{ path: 'prices.cachedInput', message }]);
  }
  const option = await findSourced(deps, access, id);
  await patchFigures(deps, option, { organizationId, by, patch });
  deps.figures.forget();
  return { data: presentOption(await findSourced(deps, access, id)) };
});

/** @throws {AppError} `invalid_model`, `models_unavailable` */
export async function findSourced(
  { models }: Pick<Deps, 'models'>,
  { projectId }: Pick<ProjectSessionAccess, 'projectId'>,
  id: string,
): Promise<ModelOption & { readonly served: NonNullable<ModelOption['served']> }> {
  const reference = { provider: 'gateway', connectionId: null, modelId: id } as const;
  const option = await models.find(projectId, reference);
  if (option === undefined || option.served === null) {
    throw new AppError('invalid_model', `modelId: ${models.explainAbsence(reference) ?? 'unknown'}`);
  }
  return { ...option, served: option.served };
}

export const modelFigureRoutes: readonly Route[] = [updateModelFigures];
