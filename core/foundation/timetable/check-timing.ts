import { databaseTime, type Db } from '#lib/database/index.ts';
import { AppError, invalid, type Fault } from '#lib/errors.ts';
import {
  isTimeZone,
  maxJitterSeconds,
  nextTimes,
  parseSchedule,
  parseStoredSchedule,
  ScheduleError,
} from '#lib/schedule/index.ts';
import type { TimingFields } from './timetable.ts';

/**
 * Checks window and jitter against the schedule, which is known to be valid, and the end against the clock that claims
 * go by, so that nothing that is due is lost to it.
 * @param before what the routine had; an end that has passed since does not block another change
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
    if (endsAt <= (await databaseTime(db))) {
      faults.push({ path: 'endsAt', message: 'must not be in the past' });
    }
  }
  if (faults.length > 0) throw invalid(faults);
}

/** Returns what is wrong with window and jitter at any time, for a schedule that is known to be valid. */
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

/** Checks a schedule as saving it would. @throws {AppError} `invalid_schedule` */
export function checkSchedule(schedule: string): void {
  try {
    parseSchedule(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw new AppError('invalid_schedule', `schedule: ${error.message}`);
  }
}

/** @throws {AppError} `invalid_timezone` */
export function checkTimeZone(timezone: string): void {
  if (isTimeZone(timezone)) return;
  const faults = [{ path: 'timezone', message: 'not a known IANA time zone' }];
  throw invalid(faults, 'invalid_timezone');
}

/**
 * Returns the next times of a schedule that no routine has yet; without jitter, which the id of a routine decides.
 * @throws {AppError} `invalid_schedule`, `invalid_timezone`, `invalid_request`, as saving it would
 */
export function previewTimes(timing: TimingFields, now: Date, count: number): Date[] {
  checkTimeZone(timing.timezone);
  checkSchedule(timing.schedule);
  const faults = timingFaults(timing);
  if (faults.length > 0) throw invalid(faults);
  const { timezone, startsAt, endsAt, skipDates } = timing;
  const schedule = parseSchedule(timing.schedule);
  return nextTimes({ schedule, timezone, startsAt, endsAt, skipDates }, now, count);
}
