import { z } from 'zod';
import { DEFINITION, looseOf, shownOf, type Fields, type Said } from '#core/authoring/definition/index.ts';
import { POLICIES } from '#core/authoring/routines/index.ts';
import { EXAMPLE, idOf, instantOfThisAge, nameOf, timestamp } from '../../http/schemas.ts';
import { budgetFields, mailSettings } from '../settings-schemas.ts';

/** Lists the fields that an assistant is told of a routine that it has changed. */
export const CHANGED_ROUTINE = ['id', 'name', 'state', 'stateReason', 'revision', 'nextRunAt'] as const;

export const routineParams = z.strictObject({ routineId: idOf('routine', EXAMPLE.routine) });

export const MAX_SKIP_DATES = 366;

/** Half a year; the schedule sets the limit that counts. */
export const MAX_JITTER_SECONDS = 183 * 86_400;

/** Five cron fields, and the zone in which they are meant. */
export const scheduleFields = {
  schedule: z.string().max(200).meta({ description: 'Five cron fields, or @hourly to @yearly.', example: '0 7 * * 1' }),
  timezone: z.string().max(100).meta({ description: 'IANA name.', example: 'Europe/Berlin' }),
};

const notifications = {
  mail: mailSettings.nullable().meta({ description: 'Null follows the project. At most one mail an hour.' }),
  successPingUrl: z.string().max(2_000).nullable().meta({
    description:
      'A monitor that gets a GET after each run that succeeded. https, a public address; redirects are not followed.',
    example: 'https://monitor.example.com/ping/4f1c',
  }),
};

const budget = z.strictObject({
  maxTokensPerDay: budgetFields.maxTokensPerDay.default(null),
  maxCostUsdPerMonth: budgetFields.maxCostUsdPerMonth.default(null),
});

/** The words of each value of a choice. */
type Words<Values extends readonly string[]> = Readonly<Record<Values[number], Pick<Said, 'label' | 'help'>>>;

/**
 * The fields that people set beside the definition: when a routine runs, what it may spend, and who is told. None is
 * material.
 */
const SETTINGS = {
  name: {
    schema: nameOf(200).meta({ example: 'Weekly SEO audit' }),
    label: 'Name',
    placeholder: 'Weekly site audit',
    since: '0.1.0',
  },
  schedule: { schema: scheduleFields.schedule, label: 'Schedule', since: '0.1.0' },
  timezone: { schema: scheduleFields.timezone.default('UTC'), label: 'Time zone', since: '0.1.0' },
  startsAt: {
    schema: instantOfThisAge
      .nullable()
      .meta({
        description: 'The schedule has no times before this one; null for no such bound.',
        example: '2027-01-01T00:00:00Z',
      })
      .default(null),
    shown: timestamp.nullable(),
    label: 'Not before',
    since: '0.1.0',
  },
  endsAt: {
    schema: instantOfThisAge
      .nullable()
      .meta({
        description:
          'The schedule has no times after this one, and then the routine is paused, `schedule_ended`. Null for no such bound.',
        example: '2027-12-31T23:59:00Z',
      })
      .default(null),
    shown: timestamp.nullable(),
    label: 'Not after',
    since: '0.1.0',
  },
  skipDates: {
    schema: z
      .array(z.iso.date())
      .max(MAX_SKIP_DATES)
      .refine((dates) => new Set(dates).size === dates.length, 'the same date twice')
      .meta({
        uniqueItems: true,
        description: `Dates in the routine's time zone on which its schedule has no times; at most ${MAX_SKIP_DATES}.`,
        example: ['2026-12-25', '2027-01-01'],
      })
      .default([]),
    label: 'Days off',
    since: '0.1.0',
  },
  jitterSeconds: {
    schema: z
      .number()
      .int()
      .min(0)
      .max(MAX_JITTER_SECONDS)
      .meta({
        description:
          'The most that a scheduled run may start later than its time, at most half the shortest interval of the schedule. How much later is fixed by the id of the routine, so that many routines of one schedule spread. `scheduledFor` stays the time of the schedule.',
        example: 600,
      })
      .default(0),
    label: 'Start later by up to',
    help: 'Spreads routines that have the same time.',
    unit: 'seconds',
    since: '0.1.0',
  },
  overlap: {
    schema: z.enum(POLICIES.overlap).default('skip'),
    label: 'When the last run is still going',
    choices: {
      skip: { label: 'Skip', help: 'The new one is left out.' },
      queue: { label: 'Wait', help: 'The new one starts when the last has ended.' },
      cancel_previous: { label: 'Replace', help: 'The last one is cancelled.' },
      allow: { label: 'Run both', help: 'Side by side.' },
    } satisfies Words<typeof POLICIES.overlap>,
    since: '0.1.0',
  },
  misfire: {
    schema: z.enum(POLICIES.misfire).default('run_once'),
    label: 'When a time was missed',
    choices: {
      run_once: { label: 'Make it up once', help: 'One run for all that were missed.' },
      skip: { label: 'Leave it out', help: 'The next one comes on time.' },
    } satisfies Words<typeof POLICIES.misfire>,
    since: '0.1.0',
  },
  budget: {
    schema: budget.prefault({}),
    shown: looseOf(budget, false),
    label: 'Budget',
    parts: {
      maxCostUsdPerMonth: {
        label: 'Budget',
        help: 'Its runs stop there until next month.',
        unit: 'US dollars a month',
        placeholder: 'No limit',
      },
      maxTokensPerDay: {
        label: 'Tokens a day',
        help: 'Its runs stop there until midnight UTC.',
        unit: 'tokens',
        placeholder: 'No limit',
      },
    },
    since: '0.1.0',
    merged: true,
  },
  pauseAfterFailures: {
    schema: z.number().int().min(1).max(1_000).default(5),
    label: 'Pause after failures',
    help: 'So many scheduled runs in a row.',
    unit: 'failures',
    since: '0.1.0',
  },
  webhookUrl: {
    schema: z.string().max(2_000).nullable().meta({ example: 'https://example.com/hooks/routine' }).default(null),
    label: 'Webhook',
    help: 'Each run that ends is posted here, signed. The signing secret is shown once, after saving.',
    placeholder: 'https://example.com/hooks/routine',
    since: '0.1.0',
  },
  notifications: {
    schema: z
      .strictObject({
        mail: notifications.mail.default(null),
        successPingUrl: notifications.successPingUrl.default(null),
      })
      .prefault({}),
    shown: z.strictObject(notifications),
    label: 'Who is told',
    parts: {
      mail: { label: 'Mail' },
      successPingUrl: {
        label: 'Monitor',
        help: 'Gets a request after each run that succeeded, so that your monitor notices when none comes.',
        placeholder: 'https://monitor.example.com/ping/4f1c',
      },
    },
    since: '0.1.0',
    merged: true,
  },
  deliver: {
    schema: z
      .enum(POLICIES.deliver)
      .meta({
        description:
          'Which runs the webhook is told of. `always`: all. `changed`, which needs a resultSchema: those whose data differs from what was delivered last, as `run.changed`, and those that failed; the first data counts as changed. `failed`: those that failed. `withheld` of a run says why it was not told. `routine.paused` is always told.',
      })
      .default('always'),
    label: 'What is delivered',
    choices: {
      always: { label: 'Every run that ends' },
      changed: { label: 'Changes and failures', help: 'Needs a result schema' },
      failed: { label: 'Failures only' },
    } satisfies Words<typeof POLICIES.deliver>,
    since: '0.1.0',
  },
} as const satisfies Fields;

/** Returns all fields that people set, with those of a definition. */
export function fieldsWith<T extends Fields>(definition: T) {
  return { ...SETTINGS, ...definition };
}

/** The schemas of fields in responses, one for all that have the field. */
const named = new WeakMap<z.ZodType, z.ZodType>();

/** Returns the shape of the fields in responses, each a schema of its own in OpenAPI. */
export function responseFields<T extends Fields>(fields: T): ReturnType<typeof shownOf<T>> {
  const shapes = Object.entries(shownOf<Fields>(fields)).map(([name, schema]) => {
    const id = `Routine${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const known = named.get(schema) ?? schema.meta({ id });
    named.set(schema, known);
    return [name, known];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which field is which
  return Object.fromEntries(shapes) as ReturnType<typeof shownOf<T>>;
}

/** Every field of a routine that people set. */
export const FIELDS = fieldsWith(DEFINITION);
