import { AppError, invalid } from '#lib/errors.ts';
import { isTimeZone, nextTimes, parseSchedule, ScheduleError } from '#lib/schedule/index.ts';
import { timingFaults } from './check-timing.ts';
import type { Timing } from './next-times.ts';

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
export function previewTimes(timing: Omit<Timing, 'id'>, now: Date, count: number): Date[] {
  checkTimeZone(timing.timezone);
  checkSchedule(timing.schedule);
  const faults = timingFaults(timing);
  if (faults.length > 0) throw invalid(faults);
  const { timezone, startsAt, endsAt, skipDates } = timing;
  const schedule = parseSchedule(timing.schedule);
  return nextTimes({ schedule, timezone, startsAt, endsAt, skipDates }, now, count);
}
