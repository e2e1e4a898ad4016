import { CronExpressionParser } from 'cron-parser';
import { FIELD_NAMES, type FieldTexts } from './expression.ts';
import type { ParsedSchedule, ScheduledDays } from './parsed-schedule.ts';
import { ScheduleError } from './schedule-error.ts';

type CronFields = ReturnType<typeof CronExpressionParser.parse>['fields'];

/** Reads the fields through cron-parser; throws `ScheduleError` naming the field at fault. */
export function readFields(expression: string, texts: FieldTexts): ParsedSchedule {
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
    bothPasses:
      everyHour || minutes.length === 60 || minuteText.includes('/') || hourText.includes('/'),
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
    // '5L' comes as text.
    lastWeekdays: bits(
      weekdays
        .filter((value) => typeof value === 'string')
        .map((value) => Number.parseInt(value, 10) % 7),
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
  // The date keeps cron-parser from reading the clock; only its reading of the fields is used.
  const options = { currentDate: EPOCH, tz: 'UTC' };
  return CronExpressionParser.parse(texts.join(' '), options).fields;
}

const EPOCH = new Date(0);

/** cron-parser's messages do not say which field is wrong, so each is tried alone. */
function faultOf(texts: FieldTexts, error: unknown): ScheduleError {
  for (const [index, text] of texts.entries()) {
    try {
      parse(texts.map((_, other) => (other === index ? text : '*')));
    } catch (fault) {
      const reason = String(fault instanceof Error ? fault.message : fault);
      return new ScheduleError(
        `The ${FIELD_NAMES[index]} field "${text}" is not valid: ${reason.replace(/^[\w ]*error, /i, '')}.`,
        { cause: fault },
      );
    }
  }
  const [, , dayOfMonth, month] = texts;
  return new ScheduleError(
    `The schedule never fires: no month of "${month}" has a day "${dayOfMonth}".`,
    { cause: error },
  );
}
