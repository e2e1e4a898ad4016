/** Refuses a schedule. `message` is one sentence that tells a person what is wrong. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

/** Field texts of a cron expression: minute, hour, day of month, month, day of week. */
export type FieldTexts = readonly [string, string, string, string, string];

export const FIELD_NAMES = ['minute', 'hour', 'day-of-month', 'month', 'day-of-week'] as const;

/**
 * Splits a cron expression or macro into its five field texts. cron-parser reads the fields; this refuses
 * only the forms that it would misread.
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
    throw new ScheduleError(`The schedule has ${texts.length} field(s): expected ${EXPECTED}${hint}.`);
  }
  for (const [index, field] of texts.entries()) {
    if (isMisread(index, field)) throw notUnderstood(index, field);
  }
  return texts;
}

export function notUnderstood(index: number, text: string, cause?: unknown): ScheduleError {
  return new ScheduleError(`The ${FIELD_NAMES[index]} field "${text}" is not understood.`, {
    cause,
  });
}

function isFiveFields(texts: readonly string[]): texts is FieldTexts {
  return texts.length === FIELD_NAMES.length;
}

const MAX_LENGTH = 200;
const EXPECTED = 'five fields (minute, hour, day of month, month, day of week)';

// cron-parser has no `@midnight`, and has macros of seconds and weekdays that are not part of the contract.
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

function isMisread(index: number, text: string): boolean {
  const isDay = index === 2 || index === 4;
  return (text.includes('?') && !(isDay && text === '?')) || MISREAD.test(text);
}

/**
 * Matches what cron-parser reads as something else: `H` as a number of its own choice, "jan2" and "janfeb" as
 * December, "5#2.5" as a day that never comes and "*#2" as any day of the second week.
 */
const MISREAD = /(?<![a-z])h|[a-z]{3}(?!l(?:,|$))[a-z\d]|\d[a-z]{3}|\*#|#(?![1-5]$)/i;
