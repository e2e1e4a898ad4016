import { z } from 'zod';
import {
  MISFIRE_POLICIES,
  OVERLAP_POLICIES,
  ROUTINE_STATES,
  type Routine,
} from '#core/routines/index.ts';
import { BUILT_IN_VARIABLES } from '#core/runs/index.ts';
import { EXAMPLE, idOf, iso, isoOrNull, nameOf, timestamp } from '../../http/schemas.ts';
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
    .meta({ description: 'Ends a run between two steps.' }),
});

const budget = z.strictObject({
  maxTokensPerDay: z.number().int().min(1).max(1_000_000_000_000).nullable().default(null),
  maxCostUsdPerMonth: z
    .string()
    .regex(/^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,10})?$/, 'a positive decimal string, like "25.00"')
    .nullable()
    .default(null),
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

const shape = {
  id: idOf('routine', EXAMPLE.routine),
  ...fields,
  model: modelReference,
  limits: z.strictObject({
    maxSteps: z.number().int(),
    timeoutSeconds: z.number().int(),
    maxTotalTokens: z.number().int().nullable(),
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
    .meta({ description: 'When the receiver answered 410; deliveries stopped then.' }),
  nextRunAt: timestamp.nullable(),
  lastRunAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  archivedAt: timestamp.nullable(),
};

export const routine = z.strictObject(shape).meta({ id: 'Routine' });

const webhookSecret = z.string().optional().meta({
  description: 'Shown once, when the webhook URL is first set.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
});

export const savedRoutine = z
  .strictObject({ ...shape, webhookSecret })
  .meta({ id: 'SavedRoutine' });

export const routineDetail = z
  .strictObject({
    ...shape,
    nextRuns: z
      .array(timestamp)
      .meta({ description: 'The next five times of the schedule, were it active now.' }),
  })
  .meta({ id: 'RoutineDetail' });

export const routineParams = z.strictObject({ routineId: idOf('routine', EXAMPLE.routine) });

export function presentRoutine(row: Routine) {
  return {
    id: row.id,
    name: row.name,
    instructions: row.instructions,
    variables: { ...row.variables },
    schedule: row.schedule,
    timezone: row.timezone,
    model: {
      provider: row.model.provider,
      connectionId: row.model.connectionId,
      modelId: row.model.modelId,
    },
    skills: [...row.skills],
    overlap: row.overlap,
    misfire: row.misfire,
    limits: {
      maxSteps: row.limits.maxSteps,
      timeoutSeconds: row.limits.timeoutSeconds,
      maxTotalTokens: row.limits.maxTotalTokens,
    },
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

export function presentDetail(row: Routine) {
  return { ...presentRoutine(row), nextRuns: [...nextRunsOf(row)] };
}

/** The entity tag of a version (RFC 9110, section 8.8.3). */
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
