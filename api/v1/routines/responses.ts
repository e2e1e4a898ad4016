import { z } from 'zod';
import { ACTIVATION_REASONS, ROUTINE_STATES, WARNING_CODES } from '#core/authoring/routines/index.ts';
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
      'Why the service itself changed the state last, `schedule_ended` after `endsAt`, `completed` after a run that said it was the last; null when a person did.',
  }),
  revision: z.number().int().meta({ description: 'Counts material changes.' }),
  webhookFailedAt: timestamp
    .nullable()
    .meta({ description: 'When the receiver responded with 410, which stopped deliveries.' }),
  scheduleInWords: z.string().meta({
    description: 'Says what `schedule` means. Where both day fields are restricted, either is enough.',
    example: 'On the 1st to 7th, and also every Monday, at 09:00',
  }),
  nextRunAt: timestamp.nullable().meta({
    description:
      'When the next scheduled run may start, its jitter included; null unless active, and when no time is left up to `endsAt`.',
  }),
  notBefore: timestamp.nullable().meta({
    description:
      'The instant before which its occurrences are skipped, `put_off`, as a run has said; activation lifts it.',
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
        skill: z.string().optional().meta({ description: 'The attached skill that it is about.' }),
        need: z.enum(NEEDS).optional().meta({ description: 'What the skill works on.' }),
        message: z.string(),
      })
      .meta({ id: 'RoutineWarning' }),
  )
  .meta({
    description:
      'What may be amiss, and keeps nothing from being saved or run. `skill_need_unmet`: judged by the names and descriptions of the tools that the routine may call, so a hint only. `skill_deleted`: runs leave it out. `facts_missing`: it is told the facts of its project, which has none. `mixes_untrusted_and_outward`: its runs read text that strangers may write, and a tool of another connection sends or changes something; judged by the hints and names of the tools. `forecast_over_budget`, on activation and on a change of an active routine’s schedule: a budget or the plan’s allowance runs out within 30 days. `interval_beyond_retention`: the run before, which a run is told of or compared with, has lost its content by then. `either_day`: day of month and day of week are both restricted, and either is enough. `no_time_in_window`: the schedule has no time up to `endsAt` that is left.',
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
            .meta({ description: 'The code of the error that saving it would be.', example: 'invalid_model' }),
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
    status: z.number().int().nullable().meta({ description: 'Null where the receiver did not respond.' }),
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
  .strictObject({
    ...shape,
    webhookSecret: webhookSecret.nullable().meta({ description: `Shown once; ${REPEATED}` }),
  })
  .meta({ id: 'RotatedRoutine' });

const activation = z
  .strictObject({
    ready: z.boolean().meta({
      description: 'Whether activating it would be accepted now.',
    }),
    proofRunId: idOf('run', EXAMPLE.run).nullable().meta({
      description:
        'The latest manual run that has succeeded with the present revision; it may have been deleted since.',
    }),
    reason: z.enum(ACTIVATION_REASONS).nullable().meta({
      description:
        'The code of the error that activating would get; null when ready. `own_variables_required` is a `successful_run_required`: runs have succeeded, all of them with values for variables that differ from its own.',
    }),
  })
  .meta({ id: 'Activation' });

export const routineDetail = z
  .strictObject({
    ...shape,
    nextRuns: z.array(timestamp).meta({
      description:
        'The next five times at which scheduled runs would start, were it active now: inside its window, without its skipped dates, its jitter included.',
    }),
    activation,
    mailDelivery,
    callableTools: z
      .array(
        z
          .strictObject({
            name: z.string().meta({ description: 'As the model calls the tool.' }),
            connectionId: idOf('connection', EXAMPLE.connection)
              .nullable()
              .meta({ description: 'Null for a built-in tool, which has no policy either.' }),
            policyId: idOf('policy', EXAMPLE.policy).nullable(),
          })
          .meta({ id: 'CallableTool' }),
      )
      .meta({ description: 'What a run that began now would be offered.' }),
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
                'The revision that the latest proof had, which activating again has scheduled runs take; null for none.',
            }),
            newest: z.number().int(),
          })
          .meta({ id: 'SkillBehind' }),
      )
      .meta({
        description:
          'Custom skills with a newer text than the one it was activated with. A manual run takes the newest; after one has succeeded, activating again has scheduled runs take it too. Empty unless active.',
      }),
    factsBehind: z
      .strictObject({
        activated: z.number().int().nullable().meta({
          description: 'The version that scheduled runs are told; null for none.',
        }),
        proven: z.number().int().nullable().meta({
          description:
            'The version that the latest proof was told, which activating again has scheduled runs be told; null for none.',
        }),
        newest: z.number().int(),
      })
      .nullable()
      .meta({
        id: 'FactsBehind',
        description:
          'Versions of the facts of the project, where there is a newer one than it was activated with; it is taken over as that of a skill. Null where there is none, for a routine without `facts`, and unless active.',
      }),
  })
  .meta({ id: 'RoutineDetail' });
