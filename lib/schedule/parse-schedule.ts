import { CronExpressionParser } from 'cron-parser';
import { LRUCache } from 'lru-cache';
import { FIELD_NAMES, notUnderstood, ScheduleError, splitExpression, type FieldTexts } from './expression.ts';
import { minuteAfter } from './occurrences.ts';
import type { ParsedSchedule, ScheduledDays } from './parsed-schedule.ts';
import { nextLocalMinute } from './wall-clock.ts';
import { now } from '../clock.ts';

/**
 * Reads a schedule that is about to be accepted: five cron fields (names, lists, ranges, steps, `L`,
 * `5L`, `5#2`; day of month and day of week are a union when both are restricted) or one of
 * `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually`.
 * @throws {ScheduleError} when it cannot be read, has a step that leads out of its field, never fires, or first fires
 * more than eight years after `time`
 */
export function parseSchedule(expression: string, time = new Date(now())): ParsedSchedule {
  const schedule = parseStoredSchedule(expression);
  refuseLongSteps(splitExpression(expression));
  const latest = new Date(time);
  latest.setUTCFullYear(latest.getUTCFullYear() + MAX_YEARS_AHEAD);
  // The zone does not matter: it shifts both ends of the eight years only by hours.
  const next = nextLocalMinute(schedule, minuteAfter(time), minuteAfter(latest));
  if (next === undefined) {
    throw new ScheduleError(`The schedule does not fire in the next ${MAX_YEARS_AHEAD} years.`);
  }
  return schedule;
}

/**
 * Reads a schedule that was accepted before. The eight years are not checked again: `0 0 * 2 1#5` can be accepted the
 * year before a leap year, fire, and then wait for 28 years.
 */
export function parseStoredSchedule(expression: string): ParsedSchedule {
  return parsed.memo(expression);
}

/** For each field: the number of its values, and a schedule that counts in the next larger unit. */
const FIELDS = [
  { size: 60, unit: 'minutes', larger: 'hours', write: (count: string) => `0 ${count} * * *`, most: 24 },
  { size: 24, unit: 'hours', larger: 'days', write: (count: string) => `0 0 ${count} * *`, most: 31 },
  { size: 31, unit: 'days', larger: 'months', write: (count: string) => `0 0 1 ${count} *`, most: 12 },
  { size: 12, unit: 'months', larger: 'years', write: () => '@yearly', most: 1 },
  { size: 7, unit: 'days', larger: 'weeks', write: () => '@weekly', most: 1 },
] as const;

const NAMES = ['jan feb mar apr may jun jul aug sep oct nov dec'.split(' '), 'sun mon tue wed thu fri sat'.split(' ')];

/** Refuses a step beyond its field or range: the schedule would run at the first value only. */
function refuseLongSteps(texts: FieldTexts): void {
  for (const [index, text] of texts.entries()) {
    for (const part of text.split(',')) {
      const [, range = '', step] = /^([^/]+)\/(\d+)$/.exec(part) ?? [];
      if (step === undefined) continue;
      const [, from, to] = /^(\w+)-(\w+)$/.exec(range) ?? [];
      const { size } = FIELDS[index] ?? { size: 0 };
      if (from === undefined || to === undefined) {
        if (Number(step) > size)
          throw new ScheduleError(`${tooLong(index, part, 'field', size)} ${remedyOf(index, step)}`);
      } else {
        const values = valueOf(to) - valueOf(from) + 1;
        if (Number(step) <= values) continue;
        throw new ScheduleError(`${tooLong(index, part, 'range', values)} Write "${from}" for its first value alone.`);
      }
    }
  }
}

function valueOf(text: string): number {
  // `NAMES` counts from 0, months count from 1.
  const [month = -1, weekday = -1] = NAMES.map((names) => names.indexOf(text.toLowerCase()));
  return month >= 0 ? month + 1 : weekday >= 0 ? weekday : Number(text);
}

function tooLong(index: number, part: string, what: 'field' | 'range', size: number): string {
  return `The ${FIELD_NAMES[index]} field "${part}" is not valid: its step is larger than the ${what}, which has ${size} values.`;
}

function remedyOf(index: number, step: string): string {
  const field = FIELDS[index];
  if (field === undefined) return '';
  const { size, unit, larger, write, most } = field;
  const count = Math.min(Math.max(Math.round(Number(step) / size), 1), most);
  const isExact = count * size === Number(step);
  const instead = isExact ? 'Write' : `A schedule cannot say every ${step} ${unit}; the nearest is`;
  const [every, words] =
    count === 1 ? ['*', `every ${larger.slice(0, -1)}`] : [`*/${count}`, `every ${count} ${larger}`];
  return `${instead} "${write(every)}", for ${words}.`;
}

const MAX_YEARS_AHEAD = 8;

// Reading a schedule costs about 20 µs, most of it in cron-parser. A tick reads thousands, many of them identical.
const parsed = new LRUCache<string, ParsedSchedule>({
  max: 2_000,
  memoMethod: (expression) => readFields(expression.trim(), splitExpression(expression)),
});

type CronFields = ReturnType<typeof CronExpressionParser.parse>['fields'];

/** Reads the fields with cron-parser. @throws {ScheduleError} naming the field that is wrong */
function readFields(expression: string, texts: FieldTexts): ParsedSchedule {
  const fields = parseFields(texts);
  const minutes = fields.minute.values;
  const hours = fields.hour.values;
  const [minuteText, hourText] = texts;
  const everyHour = hours.length === 24;
  return Object.freeze({
    expression,
    minutes,
    hours,
    days: readDays(fields),
    everyHour,
    bothPasses: everyHour || minutes.length === 60 || minuteText.includes('/') || hourText.includes('/'),
  });
}

function readDays({ month, dayOfMonth, dayOfWeek }: CronFields): ScheduledDays {
  const weekdays: readonly (number | string)[] = dayOfWeek.values;
  return {
    months: bits(month.values),
    daysOfMonth: bits(dayOfMonth.values.filter((value) => value !== 'L')),
    lastDayOfMonth: dayOfMonth.values.includes('L'),
    weekdays: bits(weekdays.filter((value) => typeof value === 'number').map((value) => value % 7)),
    nthWeekday: dayOfWeek.nthDay,
    // cron-parser returns `5L` as text.
    lastWeekdays: bits(
      weekdays.filter((value) => typeof value === 'string').map((value) => Number.parseInt(value, 10) % 7),
    ),
    byDayOfMonth: !dayOfMonth.isWildcard,
    byWeekday: !dayOfWeek.isWildcard,
  };
}

function bits(values: readonly number[]): number {
  return values.reduce((mask, value) => mask | (1 << value), 0);
}

function parseFields(texts: FieldTexts): CronFields {
  try {
    return parse(texts);
  } catch (error) {
    throw faultOf(texts, error);
  }
}

function parse(texts: readonly string[]): CronFields {
  // Give a date, so that cron-parser does not read the clock. Only its reading of the fields is used.
  const options = { currentDate: EPOCH, tz: 'UTC' };
  return CronExpressionParser.parse(texts.join(' '), options).fields;
}

const EPOCH = new Date(0);

/** Finds the wrong field by trying each alone, because cron-parser's messages do not name it. */
function faultOf(texts: FieldTexts, error: unknown): ScheduleError {
  for (const [index, text] of texts.entries()) {
    try {
      parse(texts.map((_, other) => (other === index ? text : '*')));
    } catch (fault) {
      const reason = fault instanceof Error ? VALUE_FAULT.exec(fault.message)?.[0] : undefined;
      if (reason === undefined) return notUnderstood(index, text, fault);
      return new ScheduleError(`The ${FIELD_NAMES[index]} field "${text}" is not valid: ${reason}.`, { cause: fault });
    }
  }
  const [, , dayOfMonth, month] = texts;
  return new ScheduleError(`The schedule never fires: no month of "${month}" has a day "${dayOfMonth}".`, {
    cause: error,
  });
}

/**
 * Matches cron-parser's messages about numbers, which help a person more than "unknown form". Leaves out the full stop
 * at the end of some messages.
 */
const VALUE_FAULT =
  /(?:got (?:value|range) [\d-]+ expected range|Invalid range:|cannot repeat at every \d|duplicate values).*?(?=\.*$)/;
