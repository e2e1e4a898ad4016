import { z } from 'zod';
import { gate, variables } from '#core/authoring/definition/index.ts';
import { previewRun, type Preview } from '#core/execution/steps/index.ts';
import { RUN_REASONS } from '#core/execution/run-states/index.ts';
import { component, idOf } from '../../http/schemas.ts';
import { present } from '../../http/present.ts';
import { mayWriteRoutines } from '../../access.ts';
import { routesOf, type Route } from '../../route.ts';
import { routineParams } from './fields.ts';
import { amount, estimate } from './forecast.ts';

const previewedGate = z
  .strictObject({
    ...gate.unwrap().shape,
    fault: z.string().nullable().meta({
      description:
        'Why the gate may not be asked now, so that each scheduled run would wake its model; null when it may.',
      example: 'no one has confirmed that this tool may be used without being asked',
    }),
  })
  .nullable()
  .meta({
    id: 'PreviewedGate',
    description:
      'The gate that a scheduled run would ask; null without one. A preview does not ask it, so `{{gate.value}}` is empty in the prompt.',
  });

const runPreview = component('RunPreview', {
  preamble: z.string().describe('The first words of every run of every routine.'),
  prompt: z.string().nullable().describe('Rendered instructions, skills and facts; null when they would be too large.'),
  briefing: z
    .string()
    .nullable()
    .describe(
      'The text that differs in every run: time, tools, limits and the previous result, here for a manual run.',
    ),
  skills: z
    .array(
      z.strictObject({
        reference: z.string().meta({ description: 'Slug or id of the skill.', example: 'seo-audit' }),
        name: z.string(),
      }),
    )
    .describe('The skills in order, without deleted ones.'),
  facts: z
    .strictObject({
      version: z.number().int().describe('Version of the facts; 0 if there are none.'),
      length: z.number().int().describe('Length of the facts in characters.'),
    })
    .nullable()
    .meta({
      id: 'PreviewedFacts',
      description: 'The facts of the project in the prompt; null for a routine without `facts`.',
    }),
  tools: z.array(
    component('PreviewedTool', {
      name: z.string().describe('Name that the model uses.'),
      description: z.string().nullable(),
      connectionId: idOf('connection').nullable(),
      policyId: idOf('policy').nullable(),
    }),
  ),
  gate: previewedGate,
  preflight: component('PreflightVerdict', {
    ready: z.boolean().describe('Whether a run that began now would call its model.'),
    reason: z
      .string()
      .nullable()
      .describe(
        `The reason with which the run would fail: ${Object.keys(RUN_REASONS)
          .filter((reason) => reason.startsWith('blocked_'))
          .map((reason) => `\`${reason}\``)
          .join(', ')}.`,
      ),
    message: z.string().nullable(),
  }),
  estimate: z.strictObject({
    inputTokens: z
      .number()
      .int()
      .nullable()
      .describe(
        'The input of the first step, counted from its texts and the definitions of its tools: an upper bound for common tokenizers.',
      ),
    least: amount.describe('The input of the first step alone.'),
    most: amount.describe('The most that the limits allow.'),
    typical: estimate,
  }),
});

const previewRoutine = routesOf('Routines')('POST /v1/routines/:routineId/preview', {
  id: 'previewRoutine',
  summary: 'Preview a run',
  description:
    'The text and tools of a manual run that would begin now, the verdict of its preflight, and its possible cost. No model is called, no run is made and nothing is written, except that a connection’s sign-in is renewed when due.',
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  params: routineParams,
  body: component('PreviewRoutine', {
    variables: variables.default({}).describe('Values that override those of the routine.'),
  }),
  bodyOptional: true,
  success: { data: runPreview, description: 'The preview.' },
  errors: ['invalid_variable'],
}).to(async ({ access, params: { routineId }, body, deps }) => {
  const { projectId, organizationId } = access;
  const { variables } = body;
  const valuesFenced = !mayWriteRoutines(access);
  const input = { id: routineId, projectId, organizationId, variables, valuesFenced };
  return { data: presentPreview(await previewRun(deps, input, new AbortController().signal)) };
});

export const previewRoutes: readonly Route[] = [previewRoutine];

function presentPreview(preview: Preview) {
  const { opening, gate: asked, blocked, estimate: row } = preview;
  return present(runPreview, {
    ...preview,
    prompt: opening?.prompt ?? null,
    briefing: opening?.briefing ?? null,
    gate: asked && { ...asked.asks, fault: asked.fault ?? null },
    preflight: {
      ready: blocked === undefined,
      reason: blocked?.reason ?? null,
      message: blocked?.message ?? null,
    },
    estimate: { ...row, inputTokens: row.inputTokens ?? null },
  });
}
