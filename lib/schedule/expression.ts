/** Thrown for a schedule that is refused. `message` is one sentence for a person. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

/** Field texts of a cron expression: minute, hour, day of month, month, day of week. */
export type FieldTexts = readonly [string, string, string, string, string];

export const FIELD_NAMES = ['minute', 'hour', 'day-of-month', 'month', 'day-of-week'] as const;

/**
 * Splits a cron expression or macro into its five field texts. cron-parser reads the fields; only forms that it would
 * misread are refused here.
 */
export function splitExpression(expression: string): FieldTexts {
  if (expression.length > MAX_LENGTH) {
    throw new ScheduleError(`A schedule has at most ${MAX_LENGTH} characters.`);
  }
  const strange = /[^\x20-\x7e]/u.exec(expression)?.[0];
  if (strange !== undefined) throw foreignCharacter(strange);
  const text = expression.trim();
  const zone = /^(?:CRON_)?TZ=(\S*)/i.exec(text);
  if (zone !== null) {
    const name = zone[1]?.replaceAll(/^[:"']+|["']$/g, '') ?? '';
    const where = name === '' ? 'the field timezone' : `timezone to ${name}`;
    throw new ScheduleError(`A schedule does not name its zone: leave out ${zone[0]}, and set ${where}.`);
  }
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

function foreignCharacter(character: string): ScheduleError {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const shown = /[\p{C}\p{Z}]/u.test(character) ? code : `"${character}" (${code})`;
  const [plain] = LOOK_ALIKE.find(([, alike]) => alike.test(character)) ?? [character.normalize('NFKC')];
  const remedy = /^[\x20-\x7e]$/.test(plain)
    ? `replace ${shown} by ${plain === ' ' ? 'a space' : `"${plain}"`}`
    : `take ${shown} out`;
  return new ScheduleError(`A schedule is made of printable ASCII characters and spaces only: ${remedy}.`);
}

/** Characters that resemble a valid character, and that NFKC normalization does not convert to it. */
const LOOK_ALIKE: readonly (readonly [string, RegExp])[] = [
  ['-', /[\p{Pd}\u2212\u00ad\u02d7]/u],
  ['*', /[\u2217\u204e\u00d7\u2022\u22c6\u066d\u2731\u2733\u274b\ua673\u00b7]/u],
  ['/', /[\u2044\u2215\u2571\u29f8\u00f7]/u],
  [',', /[\u060c\u201a\u3001\u02cf]/u],
  ['#', /[\u266f]/u],
  [' ', /[\p{Z}\t\r\n\u2800]/u],
];

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
 * Matches forms that cron-parser misreads: `H` as a number of its own choice, "jan2" and "janfeb" as December, "5#2.5"
 * as a day that never comes and "*#2" as any day of the second week.
 */
const MISREAD = /(?<![a-z])h|[a-z]{3}(?!l(?:,|$))[a-z\d]|\d[a-z]{3}|\*#|#(?![1-5]$)/i;
