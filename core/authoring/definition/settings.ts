import { z } from 'zod';
import { budgetFields, mailIn, mailSettings, storedMail } from '#core/accounts/settings/index.ts';
import { idPattern } from '#lib/ids.ts';
import { instantOfThisAge, nameOf, timestamp } from '#lib/schemas.ts';
import { looseOf, type Fields, type Setting, type ValuesOf } from './field.ts';

export const SCHEDULE_LIMITS = {
  skipDates: 366,
  /** The longest jitter, half a year. The interval of a routine's schedule limits the jitter further. */
  jitterSeconds: 183 * 86_400,
};

/** Five cron fields and their time zone. */
export const scheduleFields = {
  schedule: z.string().max(200).meta({ description: 'Five cron fields, or @hourly to @yearly.', example: '0 7 * * 1' }),
  timezone: z.string().max(100).meta({ description: 'IANA name.', example: 'Europe/Berlin' }),
};

const notifications = {
  mail: mailSettings
    .nullable()
    .describe('Null for the settings of the project. A routine causes at most one mail an hour.'),
  successPingUrl: z.string().max(2_000).nullable().meta({
    description:
      'Address of a monitor that gets a GET after each successful run: https and public; redirects are not followed.',
    example: 'https://monitor.example.com/ping/4f1c',
  }),
};

const resultsTo = {
  when: z
    .enum(['each', 'changed'])
    .describe('`changed` leaves out results that equal the previous one or have nothing to report.'),
  mail: mailSettings.shape.to
    .nullable()
    .describe(
      'Members who get the results by mail, at most ten an hour of one routine. Null for none; digests have the results too.',
    ),
  chats: z
    .array(z.string().regex(idPattern('chat')))
    .max(10)
    .refine((ids) => new Set(ids).size === ids.length, 'the same chat twice')
    .meta({ uniqueItems: true, description: 'Ids of chats of the project. The chats also get failures.' }),
};

const budget = z.strictObject({
  maxTokensPerDay: budgetFields.maxTokensPerDay.default(null),
  maxCostUsdPerMonth: budgetFields.maxCostUsdPerMonth.default(null),
});

/**
 * Fields that people set outside the definition: times, budget and recipients of mail. None of these fields is
 * material. Each field is stored in a column of `routines` with its name, or in one column for each part.
 */
export const SETTINGS = {
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
        description: 'The schedule has no times before this instant. Null for no beginning.',
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
          'The schedule has no times after this instant; then the routine is paused as `schedule_ended`. Null for no end.',
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
      .max(SCHEDULE_LIMITS.skipDates)
      .refine((dates) => new Set(dates).size === dates.length, 'the same date twice')
      .meta({
        uniqueItems: true,
        description: `Dates in the routine's time zone on which its schedule has no times; at most ${SCHEDULE_LIMITS.skipDates}.`,
        example: ['2026-12-25', '2027-01-01'],
      })
      .default([]),
    label: 'Days off',
    since: '0.1.0',
    column: { isSet: true },
  },
  jitterSeconds: {
    schema: z
      .number()
      .int()
      .min(0)
      .max(SCHEDULE_LIMITS.jitterSeconds)
      .meta({
        description:
          'The greatest delay of a scheduled run, at most half the shortest interval of the schedule. The id of the routine decides the delay, so that routines with the same schedule spread. `scheduledFor` stays the time of the schedule.',
        example: 600,
      })
      .default(0),
    label: 'Start later by up to',
    help: 'Spreads the starts of routines that have the same time.',
    unit: 'seconds',
    since: '0.1.0',
  },
  overlap: {
    schema: z.enum(['skip', 'queue', 'cancel_previous', 'allow']).default('skip'),
    label: 'When the last run is still going',
    choices: {
      skip: { label: 'Skip', help: 'The new run is left out.' },
      queue: { label: 'Wait', help: 'The new run starts when the last run has ended.' },
      cancel_previous: { label: 'Replace', help: 'The last run is cancelled.' },
      allow: { label: 'Run both', help: 'Side by side.' },
    },
    since: '0.1.0',
  },
  misfire: {
    schema: z.enum(['run_once', 'skip']).default('run_once'),
    label: 'When a time was missed',
    choices: {
      run_once: { label: 'Make it up once', help: 'One run makes up for all missed times.' },
      skip: { label: 'Leave it out', help: 'The next run comes on time.' },
    },
    since: '0.1.0',
  },
  budget: {
    schema: budget.prefault({}),
    shown: looseOf(budget, false),
    label: 'Budget',
    inside: {
      maxCostUsdPerMonth: {
        label: 'Budget',
        help: 'At this amount the runs stop until next month.',
        unit: 'US dollars a month',
        placeholder: 'No limit',
      },
      maxTokensPerDay: {
        label: 'Tokens a day',
        help: 'At this amount the runs stop until midnight UTC.',
        unit: 'tokens',
        placeholder: 'No limit',
      },
    },
    since: '0.1.0',
    merged: true,
    parts: { maxTokensPerDay: {}, maxCostUsdPerMonth: { read: 'trim_scale(max_cost_usd_per_month)::text' } },
  },
  pauseAfterFailures: {
    schema: z.number().int().min(1).max(1_000).default(5),
    label: 'Pause after failures',
    help: 'The number of scheduled runs that fail in a row.',
    unit: 'failures',
    since: '0.1.0',
  },
  webhookUrl: {
    schema: z.string().max(2_000).nullable().meta({ example: 'https://example.com/hooks/routine' }).default(null),
    label: 'Webhook',
    help: 'The service posts each ended run here, signed. The signing secret is shown once, after saving.',
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
    inside: {
      mail: { label: 'Mail' },
      successPingUrl: {
        label: 'Monitor',
        help: 'The address gets a request after each successful run, so that your monitor notices when a run is missing.',
        placeholder: 'https://monitor.example.com/ping/4f1c',
      },
    },
    since: '0.1.0',
    merged: true,
    parts: {
      mail: { name: 'notify_mail', read: mailIn('notify_mail'), stored: storedMail, isJson: true },
      successPingUrl: {},
    },
  },
  resultsTo: {
    schema: z
      .strictObject({
        when: resultsTo.when.default('each'),
        mail: resultsTo.mail.default(null),
        chats: resultsTo.chats.default([]),
      })
      .prefault({}),
    shown: z.strictObject(resultsTo),
    label: 'Who gets the results',
    inside: {
      when: {
        label: 'Which results',
        choices: {
          each: { label: 'Each result' },
          changed: {
            label: 'Only changes',
            help: 'Results that equal the previous one or have nothing to report are left out.',
          },
        },
      },
      mail: { label: 'By mail' },
      chats: { label: 'In chats' },
    },
    since: '0.2.0',
    merged: true,
    parts: {
      when: { name: 'results_when' },
      mail: { name: 'results_mail', isJson: true },
      chats: { name: 'results_chats', isJson: true },
    },
  },
  deliver: {
    schema: z
      .enum(['always', 'changed', 'failed'])
      .describe(
        'Which runs the webhook gets. `always`: all. `changed`, which needs a resultSchema: runs whose data differs from the data delivered last, as `run.changed`, and failed runs; the first data counts as changed. `failed`: failed runs. `withheld` of a run has the reason for no event. `routine.paused` is always sent.',
      )
      .default('always'),
    label: 'What is delivered',
    choices: {
      always: { label: 'Every run that ends' },
      changed: { label: 'Changes and failures', help: 'Needs a result schema' },
      failed: { label: 'Failures only' },
    },
    since: '0.1.0',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** Returns all fields that people set: the settings, and the fields of a definition. */
export function fieldsWith<T extends Fields>(definition: T) {
  return { ...SETTINGS, ...definition };
}

export type RoutineSettings = ValuesOf<typeof SETTINGS>;
