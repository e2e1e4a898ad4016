import { databaseTime, type Db } from '#lib/database/index.ts';
import { invalid, type Fault } from '#lib/errors.ts';
import {
  eitherDayInWords,
  isTimeZone,
  maxJitterSeconds,
  nextInTimetable,
  nextTimes,
  parseSchedule,
  parseStoredSchedule,
  ScheduleError,
} from '#lib/schedule/index.ts';
import type { TimingFields } from './timetable.ts';

/**
 * Checks window and jitter against a valid schedule, and the end against the clock of Postgres. Runs are claimed by
 * that clock, so no due occurrence is lost.
 * @param before the earlier settings; an end that has passed since does not block another change
 * @throws {AppError} `invalid_request`
 */
export async function checkTiming(
  db: Db,
  fields: TimingFields,
  before: Pick<TimingFields, 'endsAt'> | undefined,
): Promise<void> {
  const faults = timingFaults(fields);
  const { endsAt } = fields;
  if (endsAt !== null && endsAt.getTime() !== before?.endsAt?.getTime()) {
    faults.push(...endFaults(fields, await databaseTime(db)));
  }
  if (faults.length > 0) throw invalid(faults);
}

function endFaults({ endsAt }: Pick<TimingFields, 'endsAt'>, now: Date): Fault[] {
  return endsAt !== null && endsAt <= now ? [{ path: 'endsAt', message: 'must not be in the past' }] : [];
}

/** Returns the faults of window and jitter that are independent of the time, for a valid schedule. */
function timingFaults({ schedule, startsAt, endsAt, jitterSeconds }: TimingFields): Fault[] {
  const faults: Fault[] = [];
  if (endsAt !== null && startsAt !== null && endsAt <= startsAt) {
    faults.push({ path: 'endsAt', message: 'must be after startsAt' });
  }
  if (jitterSeconds === 0) return faults;
  const most = Math.floor(maxJitterSeconds(parseStoredSchedule(schedule)));
  if (jitterSeconds > most) {
    const message = `at most half the shortest interval of the schedule, ${most} seconds`;
    faults.push({ path: 'jitterSeconds', message });
  }
  return faults;
}

/** Checks a schedule by the rules for saving. @throws {AppError} `invalid_schedule` */
export function checkSchedule(schedule: string): void {
  try {
    parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw invalid([{ path: 'schedule', message: error.message }], 'invalid_schedule');
  }
}

/** @throws {AppError} `invalid_timezone` */
export function checkTimeZone(timezone: string): void {
  if (isTimeZone(timezone)) return;
  const faults = [{ path: 'timezone', message: 'not a known IANA time zone' }];
  throw invalid(faults, 'invalid_timezone');
}

export const TIMING_WARNINGS = ['either_day', 'no_time_in_window'] as const;

/** A warning about a schedule that can be saved nevertheless. */
export interface TimingWarning {
  readonly code: (typeof TIMING_WARNINGS)[number];
  readonly message: string;
}

/** Warns about a schedule that is due more often than it looks, or never in its window. */
export function timingWarnings(timing: TimingFields, now: Date): TimingWarning[] {
  const { schedule, timezone, startsAt, endsAt, skipDates } = timing;
  const days = eitherDayInWords(schedule);
  const parsed = parseStoredSchedule(schedule);
  const isOver = endsAt !== null && endsAt <= now;
  const hasNone =
    endsAt !== null &&
    !isOver &&
    nextInTimetable({ schedule: parsed, timezone, startsAt, endsAt, skipDates }, now) === undefined;
  return [
    ...(days === undefined
      ? []
      : [
          {
            code: 'either_day' as const,
            message: `The routine runs ${days}: a day needs to match only one of day of month and day of week. To require both, restrict one field and let the instructions check the other.`,
          },
        ]),
    ...(hasNone
      ? [
          {
            code: 'no_time_in_window' as const,
            message:
              'The schedule has no time left before endsAt, so it starts no run. Check startsAt, endsAt and skipDates.',
          },
        ]
      : []),
  ];
}

/**
 * Returns the next times of a schedule that no routine has yet. The times have no jitter, because jitter depends on the
 * id of a routine.
 * @throws {AppError} `invalid_schedule`, `invalid_timezone`, `invalid_request`, as for saving
 */
export function previewTimes(timing: TimingFields, now: Date, count: number): Date[] {
  checkTimeZone(timing.timezone);
  checkSchedule(timing.schedule);
  const faults = [...timingFaults(timing), ...endFaults(timing, now)];
  if (faults.length > 0) throw invalid(faults);
  const { timezone, startsAt, endsAt, skipDates } = timing;
  const schedule = parseSchedule(timing.schedule);
  return nextTimes({ schedule, timezone, startsAt, endsAt, skipDates }, now, count);
}
