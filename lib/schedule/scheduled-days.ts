import type { ScheduledDays } from './parsed-schedule.ts';

/** Finds the first day in [`from`, `last`] that the month and day fields match; days are counted from 1970-01-01. */
export function nextScheduledDay(
  days: ScheduledDays,
  from: number,
  last: number,
): number | undefined {
  const start = new Date(from * MS_PER_DAY);
  let year = start.getUTCFullYear();
  let month = start.getUTCMonth() + 1;
  let dayOfMonth = start.getUTCDate();
  for (let day = from; day <= last;) {
    const length = daysInMonth(year, month);
    if (has(days.months, month)) {
      for (; dayOfMonth <= length; dayOfMonth++, day++) {
        if (matchesDay(days, dayOfMonth, length, weekday(day)))
          return day <= last ? day : undefined;
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

/** Matches either day field when both are restricted, as every cron does. */
function matchesDay(
  days: ScheduledDays,
  dayOfMonth: number,
  monthLength: number,
  dayOfWeek: number,
): boolean {
  const byDayOfMonth =
    has(days.daysOfMonth, dayOfMonth) || (days.lastDayOfMonth && dayOfMonth === monthLength);
  if (!days.byWeekday) return byDayOfMonth;
  const isNth = days.nthWeekday === 0 || Math.ceil(dayOfMonth / 7) === days.nthWeekday;
  const byWeekday =
    (has(days.weekdays, dayOfWeek) && isNth) ||
    (has(days.lastWeekdays, dayOfWeek) && dayOfMonth > monthLength - 7);
  return byWeekday || (days.byDayOfMonth && byDayOfMonth);
}

const MS_PER_DAY = 86_400_000;
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);
}

/** Returns the day of the week; 0 is Sunday, and 1970-01-01 was a Thursday. */
function weekday(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

function has(mask: number, bit: number): boolean {
  return (mask & (1 << bit)) !== 0;
}
