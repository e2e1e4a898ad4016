/** A schedule ready to compute occurrences from: immutable data, with sets of small numbers as bit masks. */
export interface ParsedSchedule {
  /** Trimmed text from which the schedule was read. */
  readonly expression: string;
  /** Minutes of the hour, ascending, 0-59. */
  readonly minutes: readonly number[];
  /** Hours of the day, ascending, 0-23. */
  readonly hours: readonly number[];
  readonly days: ScheduledDays;
  /** True when the hour field admits all 24 hours, in any spelling. */
  readonly everyHour: boolean;
  /** True when minute or hour is a wildcard or a step: a local time that occurs twice then counts twice. */
  readonly bothPasses: boolean;
}

/** The month, day-of-month and day-of-week fields, which together choose calendar days. */
export interface ScheduledDays {
  /** Bit mask of the months: bits 1 to 12. */
  readonly months: number;
  /** Bit mask of the days: bits 1 to 31. */
  readonly daysOfMonth: number;
  /** True for `L` in the day-of-month field. */
  readonly lastDayOfMonth: boolean;
  /** Bit mask of the weekdays: bits 0 (Sunday) to 6. */
  readonly weekdays: number;
  /** For `5#2`, the place (1-5) of the weekday in the month; 0 if every such weekday counts. */
  readonly nthWeekday: number;
  /** For `5L`, the bit mask of weekdays that count only as the last in the month: bits 0 (Sunday) to 6. */
  readonly lastWeekdays: number;
  /** True if the day-of-month field is not `*`. */
  readonly byDayOfMonth: boolean;
  /** True if the day-of-week field is not `*`. */
  readonly byWeekday: boolean;
}

/** Finds the first day in [`from`, `last`] that the month and day fields match; days count from 1970-01-01. */
export function nextScheduledDay(days: ScheduledDays, from: number, last: number): number | undefined {
  const start = new Date(from * MS_PER_DAY);
  let year = start.getUTCFullYear();
  let month = start.getUTCMonth() + 1;
  let dayOfMonth = start.getUTCDate();
  for (let day = from; day <= last;) {
    const length = daysInMonth(year, month);
    if (has(days.months, month)) {
      for (; dayOfMonth <= length; dayOfMonth++, day++) {
        if (matchesDay(days, dayOfMonth, length, weekday(day))) return day <= last ? day : undefined;
      }
    } else {
      day += length - dayOfMonth + 1;
    }
    dayOfMonth = 1;
    month += 1;
    if (month > 12) {
      month = 1;
      year += 1;
    }
  }
  return undefined;
}

/** Tells whether the day fields match a day. Either field is enough when both are restricted, as in every cron. */
function matchesDay(days: ScheduledDays, dayOfMonth: number, monthLength: number, dayOfWeek: number): boolean {
  const byDayOfMonth = has(days.daysOfMonth, dayOfMonth) || (days.lastDayOfMonth && dayOfMonth === monthLength);
  if (!days.byWeekday) return byDayOfMonth;
  const isNth = days.nthWeekday === 0 || Math.ceil(dayOfMonth / 7) === days.nthWeekday;
  const byWeekday =
    (has(days.weekdays, dayOfWeek) && isNth) || (has(days.lastWeekdays, dayOfWeek) && dayOfMonth > monthLength - 7);
  return byWeekday || (days.byDayOfMonth && byDayOfMonth);
}

const MS_PER_DAY = 86_400_000;
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);
}

/** Returns the day of the week, 0 for Sunday. 1970-01-01 was a Thursday. */
function weekday(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

function has(mask: number, bit: number): boolean {
  return (mask & (1 << bit)) !== 0;
}
