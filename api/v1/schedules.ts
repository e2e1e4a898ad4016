import { now } from '#lib/clock.ts';
import { z } from 'zod';
import { listOccurrences, previewTimes, TIMING_WARNINGS, timingWarnings } from '#core/foundation/timetable/index.ts';
import { invalid } from '#lib/errors.ts';
import { readSchedulePhrase, scheduleInWords } from '#lib/schedule/index.ts';
import { instantOfThisAge, timestamp } from '#lib/schemas.ts';
import { present } from '../http/present.ts';
import { component, decimal, idOf, iso } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { SCHEDULE_LIMITS, scheduleFields } from '#core/authoring/definition/index.ts';

const route = routesOf('Schedules');

const PREVIEWED = 5;

const preview = component('SchedulePreview', {
  schedule: z.string().meta({ description: 'The schedule that is shown.', example: '0 7 * * 1-5' }),
  inWords: z.string().meta({
    description: 'The schedule in words. If both day fields are restricted, a day needs to match only one.',
    example: 'On the 1st to 7th, and also every Monday, at 09:00',
  }),
  warnings: z
    .array(z.strictObject({ code: z.enum(TIMING_WARNINGS), message: z.string() }))
    .describe('Warnings that a routine with this schedule would have.'),
  times: z.array(timestamp).describe('The next five times; fewer if `endsAt` comes first.'),
  jitterSeconds: z
    .number()
    .int()
    .describe('How much later than each time a run may start; the id of the routine decides.'),
});

const DATE = z.regexes.date.source.slice(1, -1);
/** Matches a list of dates, at most as many as a routine may skip. */
const DATES = new RegExp(`^${DATE}(?:,${DATE}){0,${SCHEDULE_LIMITS.skipDates - 1}}$`);

const previewSchedule = route('GET /v1/schedules/preview', {
  id: 'previewSchedule',
  summary: 'Show the next times of a schedule',
  description:
    'For a wrong schedule, the response has the errors that saving a routine with it would get. `words` in place of `schedule` are read as in a draft: they have to be English, with only one meaning.',
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  query: z.strictObject({
    schedule: scheduleFields.schedule
      .optional()
      .meta({ description: 'Five cron fields, in place of `words`.', example: '0 7 * * 1-5' }),
    words: z.string().min(1).max(200).optional().meta({
      description: 'Words of time, in place of `schedule`.',
      example: 'weekdays at 7',
    }),
    timezone: scheduleFields.timezone.default('UTC').meta({ description: 'IANA name.', example: 'UTC' }),
    startsAt: instantOfThisAge.optional().describe('Leaves out earlier times.'),
    endsAt: instantOfThisAge.optional().describe('Leaves out later times.'),
    skipDates: z
      .string()
      .regex(DATES, 'dates with commas between them')
      .transform((list) => [...new Set(list.split(','))])
      .optional()
      .meta({
        type: 'string',
        description: 'Dates in the time zone, separated by commas.',
        example: '2026-12-25,2027-01-01',
      }),
    jitterSeconds: decimal(0, SCHEDULE_LIMITS.jitterSeconds).default(0).meta({
      description: 'Only checked, because the id of a routine decides the delay of its runs.',
      example: 600,
    }),
  }),
  success: { data: preview, description: 'The times.' },
  errors: ['invalid_schedule', 'invalid_timezone'],
}).to(async ({ query }) => {
  const schedule = scheduleOf(query);
  const { timezone, startsAt = null, endsAt = null, skipDates = [] } = query;
  const { jitterSeconds } = query;
  const timing = { schedule, timezone, startsAt, endsAt, skipDates, jitterSeconds };
  const time = new Date(now());
  const times = previewTimes(timing, time, PREVIEWED).map(iso);
  const shown = { schedule, inWords: scheduleInWords(schedule), warnings: timingWarnings(timing, time) };
  return { data: { ...shown, times, jitterSeconds } };
});

/**
 * @throws {AppError} `invalid_request` unless exactly one of schedule and words is given, `invalid_schedule` for words
 * that cannot be read
 */
function scheduleOf({
  schedule,
  words,
}: {
  readonly schedule?: string | undefined;
  words?: string | undefined;
}): string {
  if ((schedule === undefined) === (words === undefined)) {
    throw invalid([{ path: 'schedule', message: 'give either schedule or words' }]);
  }
  if (schedule !== undefined) return schedule;
  const read = readSchedulePhrase(words ?? '');
  if (read.kind === 'read') return read.schedule;
  const message =
    read.kind === 'none'
      ? 'no time in these words; write one, such as "weekdays at 7"'
      : `“${read.phrase}” ${read.why}`;
  throw invalid([{ path: 'words', message }], 'invalid_schedule');
}

/** Days of six weeks, because a month touches at most six weeks. */
const MAX_DAYS = 42;
const MAX_OCCURRENCES = 2_000;

const occurrences = component('ScheduledOccurrences', {
  occurrences: z.array(
    component('ScheduledOccurrence', {
      routineId: idOf('routine'),
      routineName: z.string(),
      scheduledFor: timestamp.describe('The time of the schedule.'),
      startsAt: timestamp.describe('`scheduledFor` plus the delay by the jitter of the routine.'),
    }),
  ),
  truncated: z.boolean().describe(`Whether there are more than ${MAX_OCCURRENCES.toLocaleString('en')}.`),
});

const listScheduledOccurrences = route('GET /v1/schedules/occurrences', {
  id: 'listScheduledOccurrences',
  summary: 'List the times of the active routines',
  description: `The times inside the windows of the routines, without their skipped dates. A request covers at most ${MAX_DAYS} days.`,
  mcp: { toolset: 'usage' },
  scope: 'routines:read',
  query: z.strictObject({
    from: instantOfThisAge.describe('Only times after this one.'),
    to: instantOfThisAge.describe('Only times up to and including this one.'),
  }),
  success: { data: occurrences, description: 'In the order of their start.' },
}).to(async ({ access, query: { from, to }, deps }) => {
  if (to < from || to.getTime() - from.getTime() > MAX_DAYS * 86_400_000) {
    throw invalid([{ path: 'to', message: `must not be before \`from\`, and at most ${MAX_DAYS} days after it` }]);
  }
  const range = { from, to, limit: MAX_OCCURRENCES };
  const found = await listOccurrences(deps.database, access.projectId, range);
  return { data: present(occurrences, found) };
});

export const scheduleRoutes: readonly Route[] = [previewSchedule, listScheduledOccurrences];
