import { z } from 'zod';
import { CHECKS, estimateTest, testModel } from '#core/upkeep/model-tests/index.ts';
import { AppError } from '#lib/errors.ts';
import { present } from '../http/present.ts';
import { component, dollars } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { findSourced, modelId } from './model-figures.ts';
import { modelAbilities, presentAbilities } from './models.ts';
import { usage, withTotal } from './runs/result-schema.ts';

const modelTest = component('ModelTest', {
  modelId,
  dryRun: z.boolean(),
  estimate: z
    .strictObject({
      inputTokens: z.int(),
      outputTokens: z.int(),
      costUsd: dollars.nullable().meta({ example: '0.00191' }),
    })
    .describe('The most that the test can use; `costUsd` null without prices.'),
  checks: z.array(
    z.strictObject({
      kind: z.enum(CHECKS),
      state: z.enum(['passed', 'failed', 'not_made']),
      words: z.string().nullable().meta({
        description: 'The response, or the words of a provider that refused.',
        example: 'The model kept to the schema: “{"country":"France","capital":"Paris"}”',
      }),
      durationMs: z.int().nullable(),
    }),
  ),
  usage: usage.nullable().describe('Usage of the test; null with `dryRun`.'),
  abilities: modelAbilities,
});

const testModelNow = routesOf('Models')('POST /v1/models/test', {
  id: 'testModelNow',
  summary: 'Test a model',
  description:
    'Asks the model for a short text, a call of a tool and a text by a schema, and remembers its abilities. The cost of these three requests counts towards the budgets of project and organization, and is listed in their usage as `model-tests`; `dryRun: true` returns only the greatest cost. Needs the role owner or admin. An organization can make at most 30 tests an hour.',
  auth: 'project-session',
  body: component('TestModel', { modelId, dryRun: z.boolean().default(false) }),
  success: { data: modelTest, description: 'The outcome of each check.' },
  errors: ['invalid_model', 'forbidden', 'allowance_exceeded', 'models_unavailable'],
}).to(async ({ access, body, deps }) => {
  const { dryRun } = body;
  const { organizationId, projectId, actor } = access;
  if (actor.role === 'member') {
    throw new AppError('forbidden', 'This operation needs the role owner or admin.');
  }
  const option = await findSourced(deps, access, body.modelId);
  const tested = dryRun ? estimateTest(option) : await testModel(deps, option, { organizationId, projectId });
  const now = await findSourced(deps, access, body.modelId);
  const used = tested.usage && withTotal({ ...tested.usage, costUsd: tested.costUsd });
  return {
    data: present(modelTest, {
      ...tested,
      modelId: option.modelId,
      dryRun,
      usage: used,
      abilities: presentAbilities(now),
    }),
  };
});

export const modelTestRoutes: readonly Route[] = [testModelNow];
