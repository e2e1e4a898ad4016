import { oncePerObject } from '../coalesce.ts';
import { nextOccurrenceMinute } from './daylight-saving.ts';
import { dateOf, minuteAfter, minuteAtOrBefore, summarize, type OccurrenceSummary } from './occurrences.ts';
import type { ParsedSchedule } from './parsed-schedule.ts';
import { MINUTES_PER_DAY, MS_PER_MINUTE } from './wall-clock.ts';
import { offsetSpanAt } from './zone-offsets.ts';

/** A schedule in a time zone, within a window, without the skipped dates. */
export interface Timetable {
  readonly schedule: ParsedSchedule;
  readonly timezone: string;
  /** The first and the last instant of the window, both included; null for an open end. */
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  /** Dates like `2026-12-24` without an occurrence; the clock of the zone decides which date it is. */
  readonly skipDates: readonly string[];
}

/** Returns the first occurrence strictly after `after`; undefined when the window has no more. */
export function nextInTimetable(timetable: Timetable, after: Date): Date | undefined {
  const minute = nextTimetableMinute(timetable, minuteAfter(after));
  return minute === Infinity ? undefined : dateOf(minute);
}

/** Returns the next `count` occurrences strictly after `after`, in order; fewer at the end of the window. */
export function nextTimes(timetable: Timetable, after: Date, count: number): Date[] {
  const dates: Date[] = [];
  let minute = nextTimetableMinute(timetable, minuteAfter(after));
  while (dates.length < count && minute !== Infinity) {
    dates.push(dateOf(minute));
    minute = nextTimetableMinute(timetable, minute + 1);
  }
  return dates;
}

/** Counts the occurrences after `after`, up to and including `until`, stopping at `cap` (at least 1). */
export function timesBetween(timetable: Timetable, after: Date, until: Date, cap: number): OccurrenceSummary {
  return summarize((from) => nextTimetableMinute(timetable, from), { after, until, cap });
}

/** Finds the first UTC minute at or after `from` at which the timetable has an occurrence, else `Infinity`. */
function nextTimetableMinute(timetable: Timetable, from: number): number {
  const { schedule, timezone, startsAt, endsAt } = timetable;
  const last = endsAt === null ? Infinity : minuteAtOrBefore(endsAt);
  let minute = startsAt === null ? from : Math.max(from, Math.ceil(startsAt.getTime() / MS_PER_MINUTE));
  while (minute <= last) {
    minute = nextOccurrenceMinute(schedule, timezone, minute);
    if (minute > last) break;
    const end = endOfSkippedDate(timetable, minute);
    if (end === undefined) return minute;
    minute = end;
  }
  return Infinity;
}

/**
 * Returns the minute at which a skipped date ends. If the clock changes before midnight, returns the change instead, so
 * that the hours after the change are examined again.
 */
function endOfSkippedDate({ timezone, skipDates }: Timetable, minute: number): number | undefined {
  if (skipDates.length === 0) return undefined;
  const span = offsetSpanAt(timezone, minute);
  const day = Math.floor((minute + span.offset) / MINUTES_PER_DAY);
  if (!daysOf(skipDates).has(day)) return undefined;
  return Math.min((day + 1) * MINUTES_PER_DAY - span.offset, span.end);
}

/** Returns the date that the clock of a zone shows at an instant: `2026-12-24`. */
export function dateIn(timezone: string, instant: Date): string {
  const minute = minuteAtOrBefore(instant);
  const local = minute + offsetSpanAt(timezone, minute).offset;
  return new Date(local * MS_PER_MINUTE).toISOString().slice(0, 10);
}

// Cache the days, because a tick after an outage may ask about the same list a million times.
const daysOf = oncePerObject(
  (dates: readonly string[]) => new Set(dates.map((date) => Date.parse(date) / (MINUTES_PER_DAY * MS_PER_MINUTE))),
);
