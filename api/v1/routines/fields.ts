import { z } from 'zod';
import {
  BUILT_IN_VARIABLES,
  DELIVER_POLICIES,
  MISFIRE_POLICIES,
  OUTCOME_RULES,
  OVERLAP_POLICIES,
} from '#core/routines/index.ts';
import { BUILT_IN_TOOLS } from '#core/tools/index.ts';
import { EXAMPLE, idOf, nameOf } from '../../http/schemas.ts';
import { modelReference } from '../models.ts';
import { checks } from './checks.ts';
import { gate } from './gate-schema.ts';
import { mailSettings } from '../settings-schemas.ts';
import { resultFields } from './result-form.ts';

export const routineParams = z.strictObject({ routineId: idOf('routine', EXAMPLE.routine) });

export const MAX_SKIP_DATES = 366;

/** Half a year; the schedule sets the limit that counts. */
export const MAX_JITTER_SECONDS = 183 * 86_400;

const reserved: readonly string[] = BUILT_IN_VARIABLES;

/** Fields that say who is mailed about a routine's runs. */
export const notificationFields = {
  mail: mailSettings
    .nullable()
    .meta({ description: 'Null follows the project. At most one mail an hour.' }),
  successPingUrl: z.string().max(2_000).nullable().meta({
    description:
      'A monitor that gets a GET after each run that succeeded. https, a public address; redirects are not followed.',
    example: 'https://monitor.example.com/ping/4f1c',
  }),
};

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
    description:
      'The variables that may be given for one run, as `variables` when it is started; null for all, an empty list for none.',
    example: ['topic'],
  });

const MAX_REFERENCE_LENGTH = 80;

/** A reference of any other length is no skill's, and refused like every other unknown one. */
const skillReference = z
  .string()
  .refine((reference) => reference.length >= 1 && reference.length <= MAX_REFERENCE_LENGTH, {
    message: `no skill has a slug or id of this length; at most ${MAX_REFERENCE_LENGTH} characters`,
    params: { code: 'invalid_skill' },
  })
  .meta({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH });

/** The fields that requests and responses have in common. */
export const fields = {
  name: nameOf(200).meta({ example: 'Weekly SEO audit' }),
  instructions: z
    .string()
    .min(1, 'must not be empty')
    .max(100_000)
    .meta({ example: 'Audit the site {{site}} and report what changed since last week.' }),
  variables,
  overridable,
  schedule: z
    .string()
    .max(200)
    .meta({ description: 'Five cron fields, or @hourly to @yearly.', example: '0 7 * * 1' }),
  timezone: z.string().max(100).meta({ description: 'IANA name.', example: 'Europe/Berlin' }),
  model: modelReference,
  skills: z
    .array(skillReference)
    .max(50)
    .refine((skills) => new Set(skills).size === skills.length, 'the same skill twice')
    .meta({
      description: 'Curated slugs or custom skill ids, in order.',
      uniqueItems: true,
      example: ['seo-audit'],
    }),
  carryResult: z.boolean().meta({
    description:
      'Tells each run the result of the last run that succeeded, cut at 12,000 characters. `{{previous.result}}` and `{{previous.finishedAt}}` put it into the instructions instead, `{{previous.data}}` and `{{previous.changes}}` the data of the last run that had any, as JSON.',
  }),
  builtInTools: z
    .array(z.enum(BUILT_IN_TOOLS))
    .max(BUILT_IN_TOOLS.length)
    .refine((tools) => new Set(tools).size === tools.length, 'the same tool twice')
    .meta({
      uniqueItems: true,
      description:
        'Read-only tools of the service itself, without connection and policy. `calculate` computes exactly: arithmetic, intervals and tests of rates, pacing, forecast errors, list differences.',
      example: ['calculate'],
    }),
  outcome: z.enum(OUTCOME_RULES).meta({
    description:
      'With `required` a run has to end by calling the built-in tool `finish` with its outcome (`done`, `nothing_to_report`, `partial` or `could_not`) and a summary; one that does not, and is reminded once, ends `failed`, `outcome_missing`. With `optional` a run that succeeds is `done`.',
  }),
  checks,
  skipDates: z
    .array(z.iso.date())
    .max(MAX_SKIP_DATES)
    .refine((dates) => new Set(dates).size === dates.length, 'the same date twice')
    .meta({
      uniqueItems: true,
      description: `Dates in the routine's time zone on which its schedule has no times; at most ${MAX_SKIP_DATES}.`,
      example: ['2026-12-25', '2027-01-01'],
    }),
  jitterSeconds: z.number().int().min(0).max(MAX_JITTER_SECONDS).meta({
    description:
      'The most that a scheduled run may start later than its time, at most half the shortest interval of the schedule. How much later is fixed by the id of the routine, so that many routines of one schedule spread. `scheduledFor` stays the time of the schedule.',
    example: 600,
  }),
  gate,
  ...resultFields,
  overlap: z.enum(OVERLAP_POLICIES),
  misfire: z.enum(MISFIRE_POLICIES),
  pauseAfterFailures: z.number().int().min(1).max(1_000),
  webhookUrl: z
    .string()
    .max(2_000)
    .nullable()
    .meta({ example: 'https://example.com/hooks/routine' }),
  deliver: z.enum(DELIVER_POLICIES).meta({
    description:
      'Which runs the webhook is told of. `always`: all. `changed`, which needs a resultSchema: those whose data differs from what was delivered last, as `run.changed`, and those that failed; the first data counts as changed. `failed`: those that failed. `withheld` of a run says why it was not told. `routine.paused` is always told.',
  }),
};
