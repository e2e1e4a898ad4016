import { z } from 'zod';
import { ABNORMAL_FROM_TOKENS } from '#core/steps/index.ts';
import { MEDIAN_OF_RUNS } from '#core/runs/index.ts';
import { budgetFields } from '../settings-schemas.ts';
import { fields as common, notificationFields } from './fields.ts';
import { gateInput } from './gate-schema.ts';
import { instantOfThisAge } from '../../http/schemas.ts';

const fields = {
  ...common,
  startsAt: instantOfThisAge.nullable().meta({
    description: 'The schedule has no times before this one; null for no such bound.',
    example: '2027-01-01T00:00:00Z',
  }),
  endsAt: instantOfThisAge.nullable().meta({
    description:
      'The schedule has no times after this one, and then the routine is paused, `schedule_ended`. Null for no such bound.',
    example: '2027-12-31T23:59:00Z',
  }),
};

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
  abnormalFactor: z
    .number()
    .min(1.5)
    .max(1_000)
    .nullable()
    .default(5)
    .meta({
      description: `A run that has used more than this many times the median of the last ${MEDIAN_OF_RUNS} runs of its version, and more than ${ABNORMAL_FROM_TOKENS} tokens, ends before its next step; null for never.`,
    }),
});

const budget = z.strictObject({
  maxTokensPerDay: budgetFields.maxTokensPerDay.default(null),
  maxCostUsdPerMonth: budgetFields.maxCostUsdPerMonth.default(null),
});

const notifications = z.strictObject({
  mail: notificationFields.mail.default(null),
  successPingUrl: notificationFields.successPingUrl.default(null),
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
  .meta({ description: 'Only an empty list: tools come from a saved connection.', maxItems: 0 });

export const routineBody = z
  .strictObject({
    ...fields,
    variables: fields.variables.default({}),
    overridable: fields.overridable.default(null),
    timezone: fields.timezone.default('UTC'),
    skills: fields.skills.default([]),
    carryResult: fields.carryResult.default(true),
    builtInTools: fields.builtInTools.default([]),
    outcome: fields.outcome.default('optional'),
    checks: fields.checks.default([]),
    startsAt: fields.startsAt.default(null),
    endsAt: fields.endsAt.default(null),
    skipDates: fields.skipDates.default([]),
    jitterSeconds: fields.jitterSeconds.default(0),
    gate: gateInput.default(null),
    resultSchema: fields.resultSchema.default(null),
    resultKey: fields.resultKey.default(null),
    overlap: fields.overlap.default('skip'),
    misfire: fields.misfire.default('run_once'),
    limits: limits.prefault({}),
    budget: budget.prefault({}),
    pauseAfterFailures: fields.pauseAfterFailures.default(5),
    webhookUrl: fields.webhookUrl.default(null),
    notifications: notifications.prefault({}),
    deliver: fields.deliver.default('always'),
    tools: inlineTools,
    toolPolicies: inlineTools,
  })
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...routine }) => routine)
  .meta({ id: 'CreateRoutine' });

export const routinePatch = z
  .strictObject({
    ...fields,
    gate: gateInput,
    limits: withoutDefaults(limits.shape),
    budget: withoutDefaults(budget.shape),
    notifications: withoutDefaults(notifications.shape),
    tools: inlineTools,
    toolPolicies: inlineTools,
  })
  .partial()
  .transform(({ tools: _tools, toolPolicies: _toolPolicies, ...patch }) => patch)
  .meta({ id: 'UpdateRoutine' });

export const activateBody = z
  .strictObject({
    acceptForecast: z.boolean().default(false).meta({
      description: 'Has no effect any more: a forecast never keeps a routine from being activated.',
      deprecated: true,
    }),
    refuseOverBudget: z.boolean().default(false).meta({
      description: 'Refuses it where its forecast says that a limit runs out within 30 days.',
    }),
  })
  .meta({ id: 'ActivateRoutine' });

export const pauseBody = z
  .strictObject({
    cancelRuns: z
      .boolean()
      .default(false)
      .meta({ description: 'Also cancels the runs of the routine that are open.' }),
  })
  .meta({ id: 'PauseRoutine' });

function withoutDefaults<S extends Record<string, z.ZodDefault>>(shape: S) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which field is which
  const bare = Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, field.unwrap()]),
  ) as { [K in keyof S]: ReturnType<S[K]['unwrap']> };
  return z.strictObject(bare).partial();
}
