import { z } from 'zod';
import { refuseLongNumbers } from '#core/clients/json-schemas/index.ts';
import { EFFORTS } from '#core/clients/gateway/index.ts';
import { MODEL_PROVIDERS } from '#core/models/directory/index.ts';
import { BUILT_IN_TOOLS } from '#core/integrations/tools/index.ts';
import { JSON_POINTER } from '#lib/json.ts';
import { ASKING } from './asking.ts';
import { looseOf, type Fields, type ValuesOf } from './field.ts';
import { gate, gateInput } from './gate.ts';
import { HELD_CALLS, limits, LIMIT_PARTS } from './limits.ts';
import { BUILT_IN_VARIABLES } from './placeholders.ts';
import { checks } from './results.ts';

/** Names of newer built-ins: an older routine may have a variable with one of these names. */
const LATER: ReadonlySet<string> = new Set(['actions', 'answers']);
const reserved: readonly string[] = BUILT_IN_VARIABLES.filter((name) => !LATER.has(name));

export const variables = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'a name of letters, digits and _, at most 64')
      .refine((name) => !reserved.includes(name), 'this name is built in')
      .meta({ not: { enum: [...reserved] } }),
    z.string().max(10_000),
  )
  .refine((value) => Object.keys(value).length <= 50, 'at most 50 variables')
  .meta({
    maxProperties: 50,
    description: 'Values of the `{{placeholders}}` in the instructions.',
    example: { topic: 'pricing pages' },
  });

const overridable = z
  .array(z.string().max(64))
  .max(50)
  .refine((names) => new Set(names).size === names.length, 'the same variable twice')
  .nullable()
  .meta({
    uniqueItems: true,
    description: 'The variables that a caller may set for one run; null for all, an empty list for none.',
    example: ['topic'],
  });

const model = z
  .strictObject({
    provider: z.enum(MODEL_PROVIDERS),
    connectionId: z.string().max(64).nullable().default(null),
    modelId: z.string().min(1).max(300),
    // Leave an unset effort out, so that a release without the field can read the routine.
    effort: z
      .enum(EFFORTS)
      .optional()
      .describe(
        'How much the model thinks before it writes, for a model with `abilities.effort` (`GET /v1/models`); if left out, the model decides. Calls on a personal account send none.',
      ),
  })
  .meta({
    id: 'ModelReference',
    description:
      'A model of the live directory: `gateway` with a null connectionId for a model of the service, or a personal account with its exact connectionId.',
    example: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
  });

const MAX_REFERENCE_LENGTH = 80;

/** Slug or id of a skill. A text of another length names no skill, so it is refused as an unknown skill. */
const skillReference = z
  .string()
  .refine((reference) => reference.length >= 1 && reference.length <= MAX_REFERENCE_LENGTH, {
    message: `no skill has a slug or id of this length; at most ${MAX_REFERENCE_LENGTH} characters`,
    params: { code: 'invalid_skill' },
  })
  .meta({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH });

const skills = z
  .array(skillReference)
  .max(50)
  .refine((references) => new Set(references).size === references.length, 'the same skill twice')
  .meta({ description: 'Curated slugs or custom skill ids, in order.', uniqueItems: true, example: ['seo-audit'] });

const builtInTools = z
  .array(z.enum(BUILT_IN_TOOLS))
  .max(BUILT_IN_TOOLS.length)
  .refine((tools) => new Set(tools).size === tools.length, 'the same tool twice')
  .meta({
    uniqueItems: true,
    description:
      'Read-only tools of the service itself, without connection and policy. `calculate` computes exactly: arithmetic, intervals and tests of rates, pacing, series and their forecasts, parts of a change, list and text differences.',
    example: ['calculate'],
  });

const MAX_SCHEMA_BYTES = 65_536;

const resultSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES, 'more than 64 kB')
  .superRefine(refuseLongNumbers)
  .nullable()
  .meta({
    description:
      "A JSON Schema (2020-12, or what its `$schema` says) of at most 64 kB: the last message of a run has to be JSON that fits the schema, and the run keeps it as `data`. A model that sends something else is asked once more; then the run ends `failed`, `result_invalid`. A schema that cannot be compiled within the service's limits is refused; if no value satisfies the schema, each run ends as `result_invalid`.",
    example: {
      type: 'object',
      properties: {
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, price: { type: 'number' } },
            required: ['id', 'price'],
          },
        },
      },
      required: ['items'],
    },
  });

const pointer = z.string().max(1_000).regex(JSON_POINTER, 'a JSON Pointer (RFC 6901)');

const resultKey = z
  .strictObject({
    list: pointer.describe('Pointer from the data to the list; empty if the data is the list.'),
    key: pointer.describe(
      'Pointer from an item to the text, number or boolean that identifies it; empty if the item is that value.',
    ),
  })
  .nullable()
  .meta({
    id: 'ResultKey',
    description:
      'JSON Pointers (RFC 6901) to a list in the data and to the key of its items. With this only the items of the list are compared, in any order; with null the whole data is compared. Data without the list, or with a missing or repeated key, is `result_invalid`.',
    example: { list: '/items', key: '/id' },
  });

/**
 * The material fields of a routine: everything that its runs receive, and their rights. A change makes a new revision,
 * which no manual run has proven yet, so the routine returns to draft. Tools of connections are material too; separate
 * tables store their policies. Name, times, budget and recipients of mail are not material.
 */
export const DEFINITION = {
  instructions: {
    schema: z
      .string()
      .min(1, 'must not be empty')
      .max(100_000)
      .meta({ example: 'Audit the site {{site}} and report what changed since last week.' }),
    label: 'Instructions',
    help: 'The text for the model. `{{placeholders}}` are filled in for each run.',
    since: '0.1.0',
    long: true,
    blank: 'This release cannot read the instructions.',
  },
  variables: {
    schema: variables.default({}),
    label: 'Variables',
    help: 'Values of the placeholders in the instructions.',
    since: '0.1.0',
    long: true,
  },
  overridable: {
    schema: overridable.default(null),
    label: 'Variables of one run',
    help: 'Which variables may be given for a single run.',
    since: '0.1.0',
  },
  model: {
    schema: model,
    label: 'Model',
    help: 'The model that runs of this routine call, and the account that pays for it.',
    since: '0.1.0',
    blank: { provider: 'gateway', connectionId: null, modelId: 'unreadable' },
  },
  skills: {
    schema: skills.default([]),
    label: 'Skills',
    help: 'Texts that follow the instructions, in this order.',
    since: '0.1.0',
  },
  facts: {
    schema: z.boolean().describe('Gives each run the facts of its project.').default(false),
    label: 'Project facts',
    help: 'Each run gets the facts of the project, which people edit under Settings.',
    since: '0.2.0',
  },
  limits: {
    schema: limits.prefault({}),
    shown: looseOf(limits, false),
    label: 'Limits',
    help: 'The steps, the time and the tokens that one run may take.',
    inside: LIMIT_PARTS,
    since: '0.1.0',
    merged: true,
  },
  carryResult: {
    schema: z
      .boolean()
      .describe(
        'Gives each run the result of the last successful run, cut at 12,000 characters. `{{previous.result}}` and `{{previous.finishedAt}}` put it into the instructions instead, `{{previous.data}}` and `{{previous.changes}}` the data of the last run that had any, as JSON.',
      )
      .default(true),
    label: 'Previous result',
    help: 'Each run gets the result of the last successful one, so that it can report changes.',
    since: '0.1.0',
  },
  builtInTools: {
    schema: builtInTools.default([]),
    label: 'Built-in tools',
    help: 'Tools of the service itself, which only compute.',
    since: '0.1.0',
  },
  outcome: {
    schema: z
      .enum(['optional', 'required'])
      .describe(
        'With `required` a run must end by calling the built-in tool `finish` with its outcome (`done`, `nothing_to_report`, `partial` or `could_not`) and a summary; a run that does not, even after one reminder, ends `failed`, `outcome_missing`. With `optional` every successful run is `done`.',
      )
      .default('optional'),
    label: 'Outcome',
    help: 'Required: each run states how it ended: done, nothing to report, partly done, or could not.',
    since: '0.1.0',
  },
  mayComplete: {
    schema: z
      .boolean()
      .describe(
        'Lets a scheduled run declare itself the last, which pauses the routine as `completed`. `finish` then takes `final`, which counts for a run that is `done` or has `nothing_to_report`. Needs `outcome: required`.',
      )
      .default(false),
    label: 'May complete',
    help: 'A scheduled run may declare the work finished for good, which pauses the routine.',
    since: '0.2.0',
  },
  mayPutOffHours: {
    schema: z
      .number()
      .int()
      .min(1)
      .max(8_784)
      .nullable()
      .meta({
        description:
          'The most hours by which a scheduled run may postpone the next one; null for none. `finish` then takes `nextNotBefore`, and earlier occurrences are skipped as `put_off`. Needs `outcome: required`.',
        example: 72,
      })
      .default(null),
    label: 'May put off the next run',
    help: 'The most hours for which a scheduled run may put off the next one.',
    since: '0.2.0',
  },
  ...HELD_CALLS,
  ...ASKING,
  checks: {
    schema: checks.default([]),
    label: 'Checks',
    help: 'Code looks at the result. A run that does not pass all checks fails.',
    since: '0.1.0',
  },
  gate: {
    schema: gateInput.default(null),
    shown: gate,
    label: 'Checked before it runs',
    help: 'A value that a scheduled run checks before it asks the model.',
    since: '0.1.0',
    long: true,
  },
  resultSchema: {
    schema: resultSchema.default(null),
    label: 'Result schema',
    help: 'The form of the data that a run has to end with.',
    since: '0.1.0',
    long: true,
    storedAsText: true,
  },
  resultKey: {
    schema: resultKey.default(null),
    label: 'Result key',
    help: 'Identifies the items of a list in the data, so that two results can be compared.',
    since: '0.1.0',
  },
} as const satisfies Fields;

export type Definition = ValuesOf<typeof DEFINITION>;
export type Limits = Definition['limits'];
export type OutcomeRule = Definition['outcome'];
