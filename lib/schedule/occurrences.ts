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
export function nextOccurrences(schedule: ParsedSchedule, timeZone: string, after: Date, count: number): Date[] {
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

export interface OccurrenceSummary {
  /** Number of occurrences; at the cap, `truncated` says that there are more. */
  readonly count: number;
  /** The earliest and the latest occurrence, counted or not; undefined if there are none. */
  readonly first: Date | undefined;
  readonly last: Date | undefined;
  readonly truncated: boolean;
}

/** Counts the occurrences after `after`, up to and including `until`, stopping at `cap` (at least 1). */
export function occurrencesBetween(
  schedule: ParsedSchedule,
  timeZone: string,
  after: Date,
  until: Date,
  cap: number,
): OccurrenceSummary {
  const next = (from: number): number => nextOccurrenceMinute(schedule, timeZone, from);
  return summarize(next, { after, until, cap });
}

/** Counts occurrences. `next` returns the first occurrence at or after a minute, `Infinity` when there is none. */
export function summarize(
  next: (from: number) => number,
  { after, until, cap }: { readonly after: Date; readonly until: Date; readonly cap: number },
): OccurrenceSummary {
  if (!(cap >= 1)) throw new RangeError('cap must be at least 1');
  const end = minuteAtOrBefore(until);
  const first = next(minuteAfter(after));
  if (first > end) return { count: 0, first: undefined, last: undefined, truncated: false };
  let count = 1;
  let last = first;
  for (let minute = next(first + 1); minute <= end; minute = next(last + 1)) {
    if (count >= cap) {
      const latest = lastAtOrBefore(next, minute, end);
      return { count, first: dateOf(first), last: dateOf(latest), truncated: true };
    }
    count += 1;
    last = minute;
  }
  return { count, first: dateOf(first), last: dateOf(last), truncated: false };
}

function lastAtOrBefore(next: (from: number) => number, known: number, end: number): number {
  for (let window = 60; ; window *= 4) {
    let last = next(Math.max(known, end - window));
    if (last > end) continue;
    for (let minute = next(last + 1); minute <= end; minute = next(last + 1)) last = minute;
    return last;
  }
}
