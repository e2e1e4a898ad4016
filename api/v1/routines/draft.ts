import { z } from 'zod';
import * as drafts from '#core/authoring/drafts/index.ts';
import { DEFINITION, scheduleFields, variables } from '#core/authoring/definition/index.ts';
import { NEEDS } from '#core/authoring/skills/index.ts';
import { forecastDraft, FORECAST_DAYS, type Forecast } from '#core/execution/forecast/index.ts';
import { component, idOf } from '../../http/schemas.ts';
import { timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { routesOf, type Route } from '../../route.ts';
import { usage, withTotal } from '../runs/result-schema.ts';

import { amount, estimate } from './forecast.ts';

const route = routesOf('Routines');

const blueprintId = z.string().min(1).max(80).meta({ example: 'page-watch' });
const lines = z.array(z.string());

const definition = component(
  'DraftedDefinition',
  {
    name: z.string(),
    instructions: z.string(),
    variables: z.record(z.string(), z.string()),
    schedule: z
      .string()
      .nullable()
      .meta({ description: 'The schedule; null if a person has to choose it.', example: '0 8 * * 1' }),
    timezone: scheduleFields.timezone,
    model: DEFINITION.model.schema.nullable().meta({
      id: 'DraftedModel',
      description: 'The model of most routines of the project, else the first of the directory; null for none.',
    }),
    skills: lines.meta({ description: 'Curated slugs or custom skill ids.', example: ['competitor-watch'] }),
  },
  { description: 'Fields for POST /v1/routines, once schedule and model are set.' },
);

const similarRoutine = z.strictObject({ id: idOf('routine'), name: z.string() });

const routineDraft = component('RoutineDraft', {
  madeBy: z
    .enum(drafts.DRAFT_SOURCES)
    .describe(
      '`model`: a model of the directory wrote the draft; `words`: no model could, so skills and blueprints were matched by words and the instructions are the sentence; `blueprint`: the slots of a blueprint were filled.',
    ),
  definition,
  assumptions: lines.describe('Assumptions beyond the sentence.'),
  questions: lines.describe('At most three questions that a person has to answer first.'),
  nextRuns: z.array(timestamp).describe('The first five times of the schedule.'),
  forecast: z
    .strictObject({
      occurrences: z.strictObject({
        count: z.int(),
        first: timestamp.nullable(),
        last: timestamp.nullable(),
      }),
      perRun: estimate,
      total: z.strictObject({ p50: amount, p95: amount }),
    })
    .nullable()
    .meta({
      id: 'DraftForecast',
      description: `The most that the drafted routine can use in ${FORECAST_DAYS} days under the limits of a new routine; null without schedule or model.`,
    }),
  missing: z.strictObject({
    connections: z.array(z.enum(NEEDS)).describe('Kinds of data that no known tool seems to offer.'),
    tools: z
      .array(
        z.strictObject({
          connectionId: idOf('connection'),
          connectionName: z.string(),
          toolName: z.string(),
        }),
      )
      .describe('Tools to confirm for the routine once it is saved.'),
  }),
  blueprints: z
    .array(z.strictObject({ id: blueprintId, name: z.string() }))
    .describe('Blueprints that fit the words of the sentence, the best first.'),
  similar: z.array(similarRoutine).describe('Routines of the project with a similar purpose.'),
  usage: usage.nullable().describe('Usage of the model; null if no model was asked.'),
});

const draftBody = z
  .strictObject({
    sentence: z.string().min(3).max(4_000).optional().meta({
      description: 'Task and time of the routine.',
      example: 'Every Monday at 8, check our pricing pages and say what changed',
    }),
    blueprint: blueprintId.optional().describe('Id of a blueprint, in place of a sentence.'),
    values: variables.optional().describe('A value for each slot of the blueprint.'),
    timezone: scheduleFields.timezone,
  })
  .refine(({ sentence, blueprint }) => (sentence === undefined) !== (blueprint === undefined), {
    path: ['sentence'],
    message: 'give either a sentence or a blueprint, not both',
  })
  .refine(({ blueprint, values }) => blueprint !== undefined || values === undefined, {
    path: ['values'],
    message: 'only with a blueprint, whose slots the values fill',
  })
  .meta({
    id: 'DraftRoutine',
    oneOf: [
      { ...withField('sentence'), not: { anyOf: [withField('blueprint'), withField('values')] } },
      { ...withField('blueprint'), not: withField('sentence') },
    ],
  });

function withField(name: string) {
  return { properties: { [name]: {} }, required: [name] };
}

const draftRoutine = route('POST /v1/routines/draft', {
  id: 'draftRoutine',
  summary: 'Draft a routine from a sentence or a blueprint',
  description:
    'Proposes a routine and saves nothing: create it from the `definition`. Code reads the times from English words with only one meaning; `questions` asks about others. A model of the directory writes the rest and may name only skills and tools of the project. The cost of its one or two requests counts towards the budgets, and is listed in the usage as `drafts`. An organization can make at most 60 drafts an hour.',
  mcp: { toolset: 'authoring', note: 'The draft is not saved: pass its definition to create_routine' },
  scope: 'routines:write',
  body: draftBody,
  success: { data: routineDraft, description: 'The draft.' },
  errors: ['invalid_timezone', 'allowance_exceeded'],
}).to(async ({ access: { projectId, organizationId }, body, deps }) => {
  const { sentence, blueprint = '', values = {}, timezone } = body;
  const from = sentence === undefined ? { blueprint, values } : { sentence };
  const draft = await drafts.draftRoutine(deps, { projectId, organizationId, timezone, from });
  return { data: presentDraft(draft, await forecastDraft(deps, projectId, draft.definition)) };
});

function presentDraft(draft: drafts.Draft, forecast: Pick<Forecast, 'runs' | 'perRun' | 'total'> | null) {
  return present(routineDraft, {
    ...draft,
    forecast: forecast && { ...forecast, occurrences: forecast.runs },
    usage: draft.spent && withTotal({ ...draft.spent.usage, costUsd: draft.spent.costUsd }),
  });
}

const blueprint = component('Blueprint', {
  id: blueprintId,
  job: z.string().meta({ example: 'Research' }),
  name: z.string(),
  promise: z.string().describe('Result of the routine’s runs, in a sentence.'),
  when: z.string().meta({ description: 'When the routine runs, in words.', example: 'every Monday at 7' }),
  schedule: scheduleFields.schedule,
  skills: lines,
  needs: z.array(z.enum(NEEDS)).describe('Kinds of data that the routine’s tools should offer.'),
  instructions: z.string(),
  slots: z.array(
    component('BlueprintSlot', {
      name: z.string().describe('Name of the variable.'),
      label: z.string(),
      type: z.enum(drafts.SLOT_TYPES).describe('Kind of value; a `list` has a line for each item.'),
      sample: z.string().describe('An answer that a person could give.'),
      least: z.int().describe('The least value of a number.'),
      most: z.int().describe('The greatest value of a number.'),
      choices: lines.describe('The answers to choose from.'),
    }),
  ),
});

const listBlueprints = route('GET /v1/blueprints', {
  id: 'listBlueprints',
  summary: 'List the blueprints of routines',
  description: 'Routines that a few answers complete, by job. POST /v1/routines/draft fills one.',
  mcp: { toolset: 'authoring', view: ['id', 'name', 'promise', 'slots'] },
  scope: 'routines:read',
  success: { data: z.array(blueprint), description: 'All blueprints.' },
}).to(({ deps }) => Promise.resolve({ data: deps.blueprints.map((each) => present(blueprint, each)) }));

export const draftRoutes: readonly Route[] = [draftRoutine, listBlueprints];
