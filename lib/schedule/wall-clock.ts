import { type ParsedSchedule, nextScheduledDay } from './parsed-schedule.ts';

export const MS_PER_MINUTE = 60_000;
export const MINUTES_PER_HOUR = 60;
export const MINUTES_PER_DAY = 1440;

/**
 * Finds the first minute in [`from`, `before`) that the cron fields match, on a wall clock without a zone.
 * Local minutes are counted from 1970-01-01T00:00 on that clock.
 */
export function nextLocalMinute(schedule: ParsedSchedule, from: number, before: number): number | undefined {
  const today = Math.floor(from / MINUTES_PER_DAY);
  const lastDay = Math.ceil(before / MINUTES_PER_DAY) - 1;
  let day = nextScheduledDay(schedule.days, today, lastDay);
  if (day === undefined) return undefined;
  let time = nextTimeOfDay(schedule, day === today ? from - today * MINUTES_PER_DAY : 0);
  if (time === undefined) {
    day = nextScheduledDay(schedule.days, day + 1, lastDay);
    if (day === undefined) return undefined;
    time = nextTimeOfDay(schedule, 0) ?? 0;
  }
  const minute = day * MINUTES_PER_DAY + time;
  return minute < before ? minute : undefined;
}

function nextTimeOfDay(schedule: ParsedSchedule, from: number): number | undefined {
  const { hours, minutes } = schedule;
  const fromHour = Math.floor(from / MINUTES_PER_HOUR);
  const fromMinute = from % MINUTES_PER_HOUR;
  for (const hour of hours) {
    if (hour < fromHour) continue;
    for (const minute of minutes) {
      if (hour > fromHour || minute >= fromMinute) return hour * MINUTES_PER_HOUR + minute;
    }
  }
  return undefined;
}

/**
 * Tells whether `name` is an IANA time zone or link that this runtime's `Intl` knows. Offsets (`+02:00`) are not zones.
 * ICU's own abbreviations are refused because they mislead: `BST` would be Dhaka and `AST` Anchorage.
 */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name) || /^systemv\//i.test(name)) return false;
  if (name.length === 3 && !IANA_ABBREVIATIONS.has(name.toUpperCase())) return false;
  try {
    return Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Lists the three-letter names of the IANA database itself. */
const IANA_ABBREVIATIONS: ReadonlySet<string> = new Set([
  'CET',
  'EET',
  'EST',
  'GMT',
  'HST',
  'MET',
  'MST',
  'PRC',
  'ROC',
  'ROK',
  'UCT',
  'UTC',
  'WET',
]);
