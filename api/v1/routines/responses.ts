import { z } from 'zod';
import { ACTIVATION_REASONS, ROUTINE_STATES, proposals, WARNING_CODES } from '#core/authoring/routines/index.ts';
import { shortFields, type Fields } from '#core/authoring/definition/index.ts';
import { NEEDS } from '#core/authoring/skills/index.ts';
import { keyOf, timestamp } from '#lib/schemas.ts';
import { component, idOf } from '../../http/schemas.ts';
import { shownName } from '../external-names.ts';
import { mailDelivery } from '../settings-schemas.ts';
import { FIELDS, responseFields } from './fields.ts';

/** The fields of a routine that people do not set. */
const kept = {
  id: idOf('routine'),
  ...shownName,
  state: z.enum(ROUTINE_STATES),
  stateReason: z
    .string()
    .nullable()
    .describe(
      'Why the service itself changed the state last: `schedule_ended` after `endsAt`, `completed` after a run that declared itself the last, or a sentence; null when a person changed it.',
    ),
  revision: z.number().int().describe('Counts material changes.'),
  webhookFailedAt: timestamp.nullable().describe('When the receiver responded with 410, which stopped deliveries.'),
  scheduleInWords: z.string().meta({
    description: '`schedule` in words. If both day fields are restricted, a day needs to match only one.',
    example: 'On the 1st to 7th, and also every Monday, at 09:00',
  }),
  nextRunAt: timestamp
    .nullable()
    .describe(
      'When the next scheduled run may start, including jitter; null unless active, and when no time is left before `endsAt`.',
    ),
  notBefore: timestamp
    .nullable()
    .describe(
      'The instant before which occurrences are skipped as `put_off`, at the wish of a run; activation clears it.',
    ),
  lastRunAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  archivedAt: timestamp.nullable(),
};

/** The shape of a routine with these fields in responses. */
export function shapeWith<T extends Fields>(fields: T) {
  return { ...kept, ...responseFields(fields) };
}

export const shape = shapeWith(FIELDS);

export const routineSummary = component('RoutineSummary', shapeWith(shortFields(FIELDS)));

export const routine = component('Routine', shape);

const webhookSecret = z.string().meta({
  description: 'Shown once, when the webhook URL is first set.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
});

export const warnings = z
  .array(
    component('RoutineWarning', {
      code: z.enum(WARNING_CODES),
      skill: z.string().optional().describe('The attached skill that the warning is about.'),
      need: z.enum(NEEDS).optional().describe('What the skill works on.'),
      message: z.string(),
    }),
  )
  .describe(
    'Possible faults, which do not prevent saving or running. `skill_need_unmet`: no tool seems to offer the data that a skill needs; only a hint, by names and descriptions of tools. `skill_deleted`: runs leave the skill out. `facts_missing`: the routine uses the facts of its project, which has none. `mixes_untrusted_and_outward`: a tool reads text that strangers may write, and a tool of another connection sends or changes something, by their hints and names. `forecast_over_budget`, on activation and on a change of an active routine’s schedule: a budget or the plan’s allowance runs out within 30 days. `interval_beyond_retention`: runs are further apart than content is kept, so that nothing is left to compare with. `either_day`: day of month and day of week are both restricted, and a day needs to match only one. `no_time_in_window`: the schedule has no time left before `endsAt`.',
  );

export const activatedRoutine = component('ActivatedRoutine', { ...shape, warnings });

export const savedRoutine = component('SavedRoutine', { ...shape, webhookSecret: webhookSecret.optional(), warnings });

export const routineCheck = component('RoutineCheck', {
  faults: z.array(
    component('RoutineFault', {
      code: z
        .string()
        .meta({ description: 'Code of the error that saving the routine would cause.', example: 'invalid_model' }),
      path: z.string().nullable().describe('The field, such as `skills[1]`; null for none.'),
      message: z.string(),
    }),
  ),
});

export const webhookTest = component('WebhookTest', {
  id: idOf('delivery').describe('The `webhook-id` of the event.'),
  status: z.number().int().nullable().describe('HTTP status; null without a response.'),
  error: z.string().nullable().describe('Why there was no response.'),
  durationMs: z.number().int(),
  responseExcerpt: z.string().nullable().describe('The first 1 kB of the response.'),
});

const REPEATED = 'null when the response is repeated under its `Idempotency-Key`.';

export const createdRoutine = component('CreatedRoutine', {
  ...savedRoutine.shape,
  webhookSecret: webhookSecret.nullable().optional().describe(`Shown once, where there is a webhook URL; ${REPEATED}`),
});

export const rotatedRoutine = component('RotatedRoutine', {
  ...shape,
  webhookSecret: webhookSecret.nullable().describe(`Shown once; ${REPEATED}`),
});

const activation = component('Activation', {
  ready: z.boolean().describe('Whether an activation would be accepted now.'),
  proofRunId: idOf('run')
    .nullable()
    .describe('The latest manual run that has succeeded with the present revision; it may have been deleted since.'),
  reason: z
    .enum(ACTIVATION_REASONS)
    .nullable()
    .describe(
      'The code of the error that activation would get; null when ready. `own_variables_required` means `successful_run_required`: all successful runs had other values of variables than the routine’s own.',
    ),
});

export const proposal = component('Proposal', {
  id: idOf('proposal'),
  routineId: idOf('routine'),
  runId: idOf('run').describe('The run that tries the change.'),
  state: z
    .enum(proposals.PROPOSAL_STATES)
    .describe('`open` while its run is open, `taken` once the change was taken over, `dropped` otherwise.'),
  reason: keyOf(proposals.DROP_REASONS)
    .nullable()
    .describe(
      `Why the proposal was dropped. ${Object.entries(proposals.DROP_REASONS)
        .map(([word, meaning]) => `\`${word}\`: ${meaning}`)
        .join('; ')}.`,
    ),
  createdAt: timestamp,
  endedAt: timestamp.nullable(),
});

export const startedProposal = component('StartedProposal', {
  ...proposal.shape,
  warnings,
  webhookSecret: webhookSecret
    .nullable()
    .optional()
    .describe(`Shown once, where the change sets the first webhook URL; ${REPEATED}`),
});

export const routineDetail = component('RoutineDetail', {
  ...shape,
  nextRuns: z
    .array(timestamp)
    .describe(
      'The next five times at which scheduled runs would start if the routine were active now: within its window, without its skipped dates, including jitter.',
    ),
  activation,
  proposal: proposal.nullable().describe('The latest proposal of a change, open or ended.'),
  mailDelivery,
  callableTools: z
    .array(
      component('CallableTool', {
        name: z.string().describe('Name that the model uses.'),
        connectionId: idOf('connection')
          .nullable()
          .describe('Id of the connection; null for a built-in tool, which has no policy either.'),
        policyId: idOf('policy').nullable(),
      }),
    )
    .describe('Tools that a run would be offered now.'),
  warnings,
  skillsBehind: z
    .array(
      component('SkillBehind', {
        skill: idOf('skill'),
        name: z.string(),
        activated: z.number().int().describe('The revision that scheduled runs take.'),
        proven: z
          .number()
          .int()
          .nullable()
          .describe(
            'The revision in the latest proof, which scheduled runs use after another activation; null for none.',
          ),
        newest: z.number().int(),
      }),
    )
    .describe(
      'Custom skills with a newer text than the activated one. Manual runs use the newest; after a success, another activation lets scheduled runs use it too. Empty unless active.',
    ),
  factsBehind: z
    .strictObject({
      activated: z.number().int().nullable().describe('The version that scheduled runs are told; null for none.'),
      proven: z
        .number()
        .int()
        .nullable()
        .describe('The version in the latest proof, which scheduled runs use after another activation; null for none.'),
      newest: z.number().int(),
    })
    .nullable()
    .meta({
      id: 'FactsBehind',
      description:
        'Versions of the project’s facts, if there is a newer one than the activated one. The newer one is taken over like a newer text of a skill. Null otherwise, for a routine without `facts`, and unless the routine is active.',
    }),
});
