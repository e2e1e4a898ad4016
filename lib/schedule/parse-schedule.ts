import { LRUCache } from 'lru-cache';
import { ScheduleError, splitExpression } from './expression.ts';
import { minuteAfter } from './occurrences.ts';
import type { ParsedSchedule } from './parsed-schedule.ts';
import { readFields } from './read-fields.ts';
import { nextLocalMinute } from './wall-clock.ts';

/**
 * Reads a schedule that is about to be accepted: five cron fields (names, lists, ranges, steps, `L`,
 * `5L`, `5#2`; day of month and day of week are a union when both are restricted) or one of
 * `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually`.
 * @throws {ScheduleError} when it cannot be read, never fires, or fires next more than eight years after `now`
 */
export function parseSchedule(expression: string, now = new Date()): ParsedSchedule {
  const schedule = parseStoredSchedule(expression);
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + MAX_YEARS_AHEAD);
  // The zone does not matter here: it shifts both ends of the eight years by hours only.
  const next = nextLocalMinute(schedule, minuteAfter(now), minuteAfter(latest));
  if (next === undefined) {
    throw new ScheduleError(`The schedule does not fire in the next ${MAX_YEARS_AHEAD} years.`);
  }
  return schedule;
}

/**
 * Reads a schedule that was accepted before. The eight years are not checked again: `0 0 * 2 1#5` can be
 * accepted the year before a leap year, fire, and then wait for 28 years.
 */
export function parseStoredSchedule(expression: string): ParsedSchedule {
  return parsed.memo(expression);
}

const MAX_YEARS_AHEAD = 8;

// Reading costs about 20 µs, most of it cron-parser's; a tick reads thousands, many of them alike.
const parsed = new LRUCache<string, ParsedSchedule>({
  max: 2_000,
  memoMethod: (expression) => readFields(expression.trim(), splitExpression(expression)),
});
