import { ScheduleError } from './schedule-error.ts';

/**
 * The five field texts of a cron expression or macro, in order. Whether the numbers are in range is
 * left to cron-parser, but only forms that it reads as they look get past here.
 */
export function splitExpression(expression: string): FieldTexts {
  if (expression.length > MAX_LENGTH) {
    throw new ScheduleError(`A schedule has at most ${MAX_LENGTH} characters.`);
  }
  if (/[^\x20-\x7e]/.test(expression)) {
    throw new ScheduleError('A schedule is made of printable ASCII characters and spaces only.');
  }
  const text = expression.trim();
  if (text === '') throw new ScheduleError(`The schedule is empty: expected ${EXPECTED}.`);
  const texts = expandMacro(text).split(/ +/);
  if (!isFiveFields(texts)) {
    const hint = texts.length === 6 ? '; a seconds field is not supported' : '';
    throw new ScheduleError(
      `The schedule has ${texts.length} field(s): expected ${EXPECTED}${hint}.`,
    );
  }
  for (const [index, text] of texts.entries()) {
    const field = FIELDS[index];
    if (field !== undefined && !field.form.test(text)) {
      throw new ScheduleError(`The ${field.name} field "${text}" is not understood.`);
    }
  }
  return texts;
}

export type FieldTexts = readonly [
  minute: string,
  hour: string,
  dayOfMonth: string,
  month: string,
  dayOfWeek: string,
];

function isFiveFields(texts: readonly string[]): texts is FieldTexts {
  return texts.length === 5;
}

const MAX_LENGTH = 200;
const EXPECTED = 'five fields (minute, hour, day of month, month, day of week)';

const MACROS: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
]);

function expandMacro(text: string): string {
  if (!text.startsWith('@')) return text;
  const fields = MACROS.get(text);
  if (fields === undefined) {
    const known = [...MACROS.keys()].join(', ');
    throw new ScheduleError(`"${text}" is not a schedule: expected one of ${known}.`);
  }
  return fields;
}

const NUMBER = String.raw`\d+`;
const MONTH = String.raw`(?:\d+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`;
const WEEKDAY = String.raw`(?:\d+|sun|mon|tue|wed|thu|fri|sat)`;

// cron-parser alone reads "jan2" as December, "5#2.5" as a day that never comes, "*#2" as any day
// of the second week and "?" in the minute field as every minute.
const FIELDS = [
  { name: 'minute', form: listOf(span(NUMBER)) },
  { name: 'hour', form: listOf(span(NUMBER)) },
  { name: 'day-of-month', form: listOf(`${span(NUMBER)}|L`, String.raw`\?`) },
  { name: 'month', form: listOf(span(MONTH)) },
  {
    name: 'day-of-week',
    form: listOf(`${span(WEEKDAY)}|${WEEKDAY}L`, String.raw`\?|${WEEKDAY}#[1-5]`),
  },
] as const;

export const FIELD_NAMES = FIELDS.map(({ name }) => name);

/** `*`, a value or a range, each with an optional step. */
function span(value: string): string {
  return String.raw`(?:\*|${value}(?:-${value})?)(?:/\d+)?`;
}

/** A comma-separated list of items, or one of the forms that must stand alone. */
function listOf(item: string, alone?: string): RegExp {
  const list = `(?:${item})(?:,(?:${item}))*`;
  return new RegExp(alone === undefined ? `^${list}$` : `^(?:${list}|${alone})$`, 'i');
}
