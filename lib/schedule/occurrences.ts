import { nextOccurrenceMinute } from './daylight-saving.ts';
import type { ParsedSchedule } from './parsed-schedule.ts';
import { MS_PER_MINUTE } from './wall-clock.ts';

/**
 * Returns the first occurrence strictly after `after`, a whole UTC minute.
 * @throws {RangeError} for an invalid date or a zone that `Intl` does not know
 */
export function nextOccurrence(schedule: ParsedSchedule, timeZone: string, after: Date): Date {
  return dateOf(nextOccurrenceMinute(schedule, timeZone, minuteAfter(after)));
}

/** Returns the next `count` occurrences strictly after `after`, in order. */
export function nextOccurrences(
  schedule: ParsedSchedule,
  timeZone: string,
  after: Date,
  count: number,
): Date[] {
  const dates: Date[] = [];
  let from = minuteAfter(after);
  while (dates.length < count) {
    const minute = nextOccurrenceMinute(schedule, timeZone, from);
    dates.push(dateOf(minute));
    from = minute + 1;
  }
  return dates;
}

/** Returns the first whole UTC minute strictly after an instant, counted from the epoch. */
export function minuteAfter(date: Date): number {
  return minuteAtOrBefore(date) + 1;
}

export function minuteAtOrBefore(date: Date): number {
  const minute = Math.floor(date.getTime() / MS_PER_MINUTE);
  if (Number.isNaN(minute)) throw new RangeError('not a valid date');
  return minute;
}

export function dateOf(minute: number): Date {
  return new Date(minute * MS_PER_MINUTE);
}
