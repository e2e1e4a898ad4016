import { z } from 'zod';
import { ACTIVATION_REASONS, ROUTINE_STATES, proposals, WARNING_CODES } from '#core/authoring/routines/index.ts';
import { shortFields, type Fields } from '#core/authoring/definition/index.ts';
import { NEEDS } from '#core/authoring/skills/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';
import { shownName } from '../external-names.ts';
import { mailDelivery } from '../settings-schemas.ts';
import { FIELDS, responseFields } from './fields.ts';

/** The fields of a routine that people do not set. */
const kept = {
  id: idOf('routine', EXAMPLE.routine),
  ...shownName,
  state: z.enum(ROUTINE_STATES),
  stateReason: z.string().nullable().meta({
    description:
      'Why the service itself changed the state last: `schedule_ended` after `endsAt`, `completed` after a run that declared itself the last, or a sentence; null when a person changed it.',
  }),
  revision: z.number().int().meta({ description: 'Counts material changes.' }),
  webhookFailedAt: timestamp
    .nullable()
    .meta({ description: 'When the receiver responded with 410, which stopped deliveries.' }),
  scheduleInWords: z.string().meta({
    description: '`schedule` in words. If both day fields are restricted, a day needs to match only one.',
    example: 'On the 1st to 7th, and also every Monday, at 09:00',
  }),
  nextRunAt: timestamp.nullable().meta({
    description:
      'When the next scheduled run may start, including jitter; null unless active, and when no time is left before `endsAt`.',
  }),
  notBefore: timestamp.nullable().meta({
    description:
      'The instant before which occurrences are skipped as `put_off`, at the wish of a run; activation clears it.',
  }),
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

export const routineSummary = z.strictObject(shapeWith(shortFields(FIELDS))).meta({ id: 'RoutineSummary' });

export const routine = z.strictObject(shape).meta({ id: 'Routine' });

const webhookSecret = z.string().meta({
  description: 'Shown once, when the webhook URL is first set.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
});

export const warnings = z
  .array(
    z
      .strictObject({
        code: z.enum(WARNING_CODES),
        skill: z.string().optional().meta({ description: 'The attached skill that the warning is about.' }),
        need: z.enum(NEEDS).optional().meta({ description: 'What the skill works on.' }),
        message: z.string(),
      })
      .meta({ id: 'RoutineWarning' }),
  )
  .meta({
    description:
      'Possible faults, which do not prevent saving or running. `skill_need_unmet`: no tool seems to offer the data that a skill needs; only a hint, by names and descriptions of tools. `skill_deleted`: runs leave the skill out. `facts_missing`: the routine uses the facts of its project, which has none. `mixes_untrusted_and_outward`: a tool reads text that strangers may write, and a tool of another connection sends or changes something, by their hints and names. `forecast_over_budget`, on activation and on a change of an active routine’s schedule: a budget or the plan’s allowance runs out within 30 days. `interval_beyond_retention`: runs are further apart than content is kept, so that nothing is left to compare with. `either_day`: day of month and day of week are both restricted, and a day needs to match only one. `no_time_in_window`: the schedule has no time left before `endsAt`.',
  });

export const activatedRoutine = z.strictObject({ ...shape, warnings }).meta({ id: 'ActivatedRoutine' });

export const savedRoutine = z
  .strictObject({ ...shape, webhookSecret: webhookSecret.optional(), warnings })
  .meta({ id: 'SavedRoutine' });

export const routineCheck = z
  .strictObject({
    faults: z.array(
      z
        .strictObject({
          code: z
            .string()
            .meta({ description: 'Code of the error that saving the routine would cause.', example: 'invalid_model' }),
          path: z.string().nullable().meta({ description: 'The field, such as `skills[1]`; null for none.' }),
          message: z.string(),
        })
        .meta({ id: 'RoutineFault' }),
    ),
  })
  .meta({ id: 'RoutineCheck' });

export const webhookTest = z
  .strictObject({
    id: idOf('delivery', EXAMPLE.delivery).meta({ description: 'The `webhook-id` of the event.' }),
    status: z.number().int().nullable().meta({ description: 'HTTP status; null without a response.' }),
    error: z.string().nullable().meta({ description: 'Why there was no response.' }),
    durationMs: z.number().int(),
    responseExcerpt: z.string().nullable().meta({ description: 'The first 1 kB of the response.' }),
  })
  .meta({ id: 'WebhookTest' });

const REPEATED = 'null when the response is repeated under its `Idempotency-Key`.';

export const createdRoutine = z
  .strictObject({
    ...savedRoutine.shape,
    webhookSecret: webhookSecret
      .nullable()
      .optional()
      .meta({ description: `Shown once, where there is a webhook URL; ${REPEATED}` }),
  })
  .meta({ id: 'CreatedRoutine' });

export const rotatedRoutine = z
  .strictObject({ ...shape, webhookSecret: webhookSecret.nullable().meta({ description: `Shown once; ${REPEATED}` }) })
  .meta({ id: 'RotatedRoutine' });

const activation = z
  .strictObject({
    ready: z.boolean().meta({ description: 'Whether an activation would be accepted now.' }),
    proofRunId: idOf('run', EXAMPLE.run).nullable().meta({
      description:
        'The latest manual run that has succeeded with the present revision; it may have been deleted since.',
    }),
    reason: z.enum(ACTIVATION_REASONS).nullable().meta({
      description:
        'The code of the error that activation would get; null when ready. `own_variables_required` means `successful_run_required`: all successful runs had other values of variables than the routine’s own.',
    }),
  })
  .meta({ id: 'Activation' });

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const dropReasons = Object.keys(proposals.DROP_REASONS) as [proposals.DropReason, ...proposals.DropReason[]];

export const proposal = z
  .strictObject({
    id: idOf('proposal', EXAMPLE.proposal),
    routineId: idOf('routine', EXAMPLE.routine),
    runId: idOf('run', EXAMPLE.run).meta({ description: 'The run that tries the change.' }),
    state: z.enum(proposals.PROPOSAL_STATES).meta({
      description: '`open` while its run is open, `taken` once the change was taken over, `dropped` otherwise.',
    }),
    reason: z
      .enum(dropReasons)
      .nullable()
      .meta({
        description: `Why the proposal was dropped. ${dropReasons.map((word) => `\`${word}\`: ${proposals.DROP_REASONS[word]}`).join('; ')}.`,
      }),
    createdAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'Proposal' });

export const startedProposal = z
  .strictObject({
    ...proposal.shape,
    warnings,
    webhookSecret: webhookSecret
      .nullable()
      .optional()
      .meta({ description: `Shown once, where the change sets the first webhook URL; ${REPEATED}` }),
  })
  .meta({ id: 'StartedProposal' });

export const routineDetail = z
  .strictObject({
    ...shape,
    nextRuns: z.array(timestamp).meta({
      description:
        'The next five times at which scheduled runs would start if the routine were active now: within its window, without its skipped dates, including jitter.',
    }),
    activation,
    proposal: proposal.nullable().meta({ description: 'The latest proposal of a change, open or ended.' }),
    mailDelivery,
    callableTools: z
      .array(
        z
          .strictObject({
            name: z.string().meta({ description: 'Name that the model uses.' }),
            connectionId: idOf('connection', EXAMPLE.connection)
              .nullable()
              .meta({ description: 'Null for a built-in tool, which has no policy either.' }),
            policyId: idOf('policy', EXAMPLE.policy).nullable(),
          })
          .meta({ id: 'CallableTool' }),
      )
      .meta({ description: 'Tools that a run would be offered now.' }),
    warnings,
    skillsBehind: z
      .array(
        z
          .strictObject({
            skill: idOf('skill', EXAMPLE.skill),
            name: z.string(),
            activated: z.number().int().meta({ description: 'The revision that scheduled runs take.' }),
            proven: z.number().int().nullable().meta({
              description:
                'The revision in the latest proof, which scheduled runs use after another activation; null for none.',
            }),
            newest: z.number().int(),
          })
          .meta({ id: 'SkillBehind' }),
      )
      .meta({
        description:
          'Custom skills with a newer text than the activated one. Manual runs use the newest; after a success, another activation lets scheduled runs use it too. Empty unless active.',
      }),
    factsBehind: z
      .strictObject({
        activated: z.number().int().nullable().meta({
          description: 'The version that scheduled runs are told; null for none.',
        }),
        proven: z.number().int().nullable().meta({
          description:
            'The version in the latest proof, which scheduled runs use after another activation; null for none.',
        }),
        newest: z.number().int(),
      })
      .nullable()
      .meta({
        id: 'FactsBehind',
        description:
          'Versions of the facts of the project, when there is a newer one than the activated one; it is taken over like a skill’s. Null when there is none, for a routine without `facts`, and unless active.',
      }),
  })
  .meta({ id: 'RoutineDetail' });
