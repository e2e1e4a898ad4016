import { z } from 'zod';
import {
  ACTIVATION_REASONS,
  BUILT_IN_VARIABLES,
  MISFIRE_POLICIES,
  OVERLAP_POLICIES,
  ROUTINE_STATES,
  type Limits,
  type Routine,
  type RoutineDetail,
  type RoutineSummary,
} from '#core/routines/index.ts';
import { EXAMPLE, idOf, iso, isoOrNull, nameOf, timestamp } from '../../http/schemas.ts';
import { budgetFields } from '../budget-schema.ts';
import { modelReference } from '../models.ts';
import { nextRunsOf } from './next-runs.ts';

const reserved: readonly string[] = BUILT_IN_VARIABLES;

export const variables = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'a name of letters, digits and _, at most 64')
      .refine((name) => !reserved.includes(name), 'this name is built in'),
    z.string().max(10_000),
  )
  .refine((value) => Object.keys(value).length <= 50, 'at most 50 variables')
  .meta({
    description: 'Values of the `{{placeholders}}` in the instructions.',
    example: { topic: 'pricing pages' },
  });

const limits = z.strictObject({
  maxSteps: z
    .number()
    .int()
    .min(1)
    .max(200)
    .default(25)
    .meta({ description: 'Model steps of one run.' }),
  timeoutSeconds: z.number().int().min(10).max(86_400).default(900),
  maxTotalTokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .default(null)
    .meta({ description: 'Input and output tokens of one run. A step gets at most what is left.' }),
  maxOutputTokens: z.number().int().min(1).max(1_000_000_000).nullable().default(null).meta({
    description: 'Output tokens of one model step; null leaves them to the provider.',
  }),
  maxQueueSeconds: z
    .number()
    .int()
    .min(60)
    .max(604_800)
    .default(21_600)
    .meta({ description: 'How long a run may wait for its first step before it is skipped.' }),
});

const budget = z.strictObject({
  maxTokensPerDay: budgetFields.maxTokensPerDay.default(null),
  maxCostUsdPerMonth: budgetFields.maxCostUsdPerMonth.default(null),
});

/** Tools are given to a routine by discovery and confirmation only, so a list of them in its body is refused. */
const inlineTools = z
  .array(z.unknown())
  .optional()
  .superRefine((tools, context) => {
    if (tools === undefined || tools.length === 0) return;
    context.addIssue({
      code: 'custom',
      message: 'inline tools are not accepted; create a connection and discover its tools',
      params: { code: 'tool_policy_requires_connection' },
    });
  })
  .meta({ description: 'Only an empty list: tools come from a saved connection.' });

const fields = {
  name: nameOf(200).meta({ example: 'Weekly SEO audit' }),
  instructions: z
    .string()
    .min(1, 'must not be empty')
    .max(100_000)
    .meta({ example: 'Audit the site {{site}} and report what changed since last week.' }),
  variables,
  schedule: z
    .string()
    .max(200)
    .meta({ description: 'Five cron fields, or @hourly to @yearly.', example: '0 7 * * 1' }),
  timezone: z.string().max(100).meta({ description: 'IANA name.', example: 'Europe/Berlin' }),
  model: modelReference,
  skills: z
    .array(z.string().min(1).max(80))
    .max(50)
    .refine((skills) => new Set(skills).size === skills.length, 'the same skill twice')
    .meta({ description: 'Curated slugs or custom skill ids, in order.', example: ['seo-audit'] }),
  overlap: z.enum(OVERLAP_POLICIES),
  misfire: z.enum(MISFIRE_POLICIES),
  pauseAfterFailures: z.number().int().min(1).max(1_000),
  webhookUrl: z
    .string()
    .max(2_000)
    .nullable()
    .meta({ example: 'https://example.com/hooks/routine' }),
};

export const routineBody = z
  .strictObject({
    ...fields,
    variables: fields.variables.default({}),
    timezone: fields.timezone.default('UTC'),
    skills: fields.skills.default([]),
    overlap: fields.overlap.default('skip'),
    misfire: fields.misfire.default('run_once'),
    limits: limits.prefault({}),
    budget: budget.prefault({}),
    pauseAfterFailures: fields.pauseAfterFailures.default(5),
    webhookUrl: fields.webhookUrl.default(null),
    tools: inlineTools,
    toolPolicies: inlineTools,
  })
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...routine }) => routine)
  .meta({ id: 'CreateRoutine' });

export const routinePatch = z
  .strictObject({
    ...fields,
    limits: withoutDefaults(limits.shape),
    budget: withoutDefaults(budget.shape),
    tools: inlineTools,
    toolPolicies: inlineTools,
  })
  .partial()
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...patch }) => patch)
  .meta({ id: 'UpdateRoutine' });

export const pauseBody = z
  .strictObject({
    cancelRuns: z
      .boolean()
      .default(false)
      .meta({ description: 'Also cancels the runs of the routine that are open.' }),
  })
  .meta({ id: 'PauseRoutine' });

const { instructions: _instructions, variables: _variables, ...shortFields } = fields;

const summaryShape = {
  id: idOf('routine', EXAMPLE.routine),
  ...shortFields,
  model: modelReference,
  limits: z.strictObject({
    maxSteps: z.number().int(),
    timeoutSeconds: z.number().int(),
    maxTotalTokens: z.number().int().nullable(),
    maxOutputTokens: z.number().int().nullable(),
    maxQueueSeconds: z.number().int(),
  }),
  budget: z.strictObject({
    maxTokensPerDay: z.number().int().nullable(),
    maxCostUsdPerMonth: z.string().nullable(),
  }),
  state: z.enum(ROUTINE_STATES),
  stateReason: z.string().nullable().meta({
    description: 'Why the service itself changed the state last; null when a person did.',
  }),
  revision: z.number().int().meta({ description: 'Counts material changes.' }),
  webhookFailedAt: timestamp
    .nullable()
    .meta({ description: 'When the receiver responded with 410, which stopped deliveries.' }),
  nextRunAt: timestamp.nullable(),
  lastRunAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  archivedAt: timestamp.nullable(),
};

export const shape = { ...summaryShape, instructions: fields.instructions, variables };

export const routineSummary = z.strictObject(summaryShape).meta({ id: 'RoutineSummary' });

export const routine = z.strictObject(shape).meta({ id: 'Routine' });

const webhookSecret = z.string().optional().meta({
  description: 'Shown once, when the webhook URL is first set.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
});

export const savedRoutine = z
  .strictObject({ ...shape, webhookSecret })
  .meta({ id: 'SavedRoutine' });

const activation = z
  .strictObject({
    ready: z.boolean().meta({ description: 'Whether activating it would be accepted now.' }),
    proofRunId: idOf('run', EXAMPLE.run).nullable().meta({
      description: 'The latest manual run that has succeeded with the present revision.',
    }),
    reason: z
      .enum(ACTIVATION_REASONS)
      .nullable()
      .meta({ description: 'The code of the error that activating would get; null when ready.' }),
  })
  .meta({ id: 'Activation' });

export const routineDetail = z
  .strictObject({
    ...shape,
    nextRuns: z
      .array(timestamp)
      .meta({ description: 'The next five times of the schedule, were it active now.' }),
    activation,
  })
  .meta({ id: 'RoutineDetail' });

export const routineParams = z.strictObject({ routineId: idOf('routine', EXAMPLE.routine) });

export function presentRoutine(row: Routine) {
  return {
    ...presentRoutineSummary(row),
    instructions: row.instructions,
    variables: { ...row.variables },
  };
}

export function presentRoutineSummary(row: RoutineSummary) {
  return {
    id: row.id,
    name: row.name,
    schedule: row.schedule,
    timezone: row.timezone,
    model: presentModel(row.model),
    skills: [...row.skills],
    overlap: row.overlap,
    misfire: row.misfire,
    limits: presentLimits(row.limits),
    budget: {
      maxTokensPerDay: row.budget.maxTokensPerDay,
      maxCostUsdPerMonth: row.budget.maxCostUsdPerMonth,
    },
    pauseAfterFailures: row.pauseAfterFailures,
    webhookUrl: row.webhookUrl,
    webhookFailedAt: isoOrNull(row.webhookFailedAt),
    state: row.state,
    stateReason: row.stateReason,
    revision: row.revision,
    nextRunAt: isoOrNull(row.nextRunAt),
    lastRunAt: isoOrNull(row.lastRunAt),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    archivedAt: isoOrNull(row.archivedAt),
  };
}

export function presentModel(model: Routine['model']) {
  return {
    provider: model.provider,
    connectionId: model.connectionId,
    modelId: model.modelId,
  };
}

export function presentLimits(limits: Limits) {
  return {
    maxSteps: limits.maxSteps,
    timeoutSeconds: limits.timeoutSeconds,
    maxTotalTokens: limits.maxTotalTokens,
    maxOutputTokens: limits.maxOutputTokens,
    maxQueueSeconds: limits.maxQueueSeconds,
  };
}

export function presentDetail(row: RoutineDetail) {
  const { ready, proofRunId, reason } = row.activation;
  return {
    ...presentRoutine(row),
    nextRuns: [...nextRunsOf(row)],
    activation: { ready, proofRunId, reason },
  };
}

/** Returns the entity tag of a routine's version (RFC 9110, section 8.8.3). */
export function etagOf(row: Routine): { ETag: string } {
  return { ETag: `"${row.version}"` };
}

function withoutDefaults<S extends Record<string, z.ZodDefault>>(shape: S) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which field is which
  const bare = Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, field.unwrap()]),
  ) as { [K in keyof S]: ReturnType<S[K]['unwrap']> };
  return z.strictObject(bare).partial();
}
