declare global {
  interface JSON {
    /** Makes a value that JSON writes as the given text of a primitive (ECMAScript 2026). */
    rawJSON(text: string): object;
    /** Gives the reviver the source text of a number (ECMAScript 2026). */
    parse(text: string, reviver: Reviver): unknown;
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** A JSON number that no double represents. It is written with its original digits. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toJSON(): object {
    return JSON.rawJSON(this.source);
  }

  /** Returns the number in plain digits, or with an exponent if it is too long. Equal numbers give equal texts. */
  toString(): string {
    const { sign, digits, exponent } = decimalOf(this.source);
    if (isTooLong(this)) return `${sign}${digits}e${exponent}`;
    if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
    const padded = digits.padStart(1 - exponent, '0');
    return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
  }
}

/**
 * Parses JSON without rounding. A number that no double represents becomes an `ExactNumber` or, if `make` is given, the
 * value that `make` returns for the number's text.
 * @throws {SyntaxError}
 */
export function parseExact(
  text: string,
  make: (source: string) => unknown = (source) => new ExactNumber(source),
): unknown {
  if (!mayBeExact(text)) return JSON.parse(text) as unknown;
  return JSON.parse(text, (_name, value, { source }) =>
    typeof value !== 'number' || source === undefined || isHeld(value, source) ? value : make(source),
  );
}

/** Finds numbers that may have more than 15 digits, or an exponent, so that most texts need no reviver. */
const LONG_NUMBER = /(?:^|[\s:,[])-?(?:\d[\d.]{15}|\d[\d.]{0,15}[eE])/;

/** Tells at little cost whether a text may contain a number that no double represents. */
export function mayBeExact(text: string): boolean {
  return LONG_NUMBER.test(text);
}

function isHeld(double: number, source: string): boolean {
  if (!Number.isFinite(double)) return false;
  const held = String(double);
  if (held === source) return true;
  const written = decimalOf(source);
  if (written.digits.length > MOST_DIGITS_OF_DOUBLE) return false;
  const { digits, exponent } = decimalOf(held);
  return digits === written.digits && exponent === written.exponent;
}

const MOST_DIGITS_OF_DOUBLE = 17;

interface Decimal {
  readonly sign: string;
  /** Digits without zeros at either end; the number 0 keeps its zero. */
  readonly digits: string;
  /** Power of ten that multiplies the digits, read as a whole number. */
  readonly exponent: number;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function decimalOf(source: string): Decimal {
  const [, sign = '', whole = '', fraction = '', power = '0'] = NUMBER.exec(source) ?? [];
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (all[start] === '0') start += 1;
  // Use a loop: a pattern for zeros at the end takes quadratic time.
  while (end > start && all[end - 1] === '0') end -= 1;
  if (start === end) return { sign: '', digits: '0', exponent: 0 };
  return { sign, digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end };
}

/** The most digits of a number without an exponent, the form in which Postgres stores numbers. */
const MAX_DIGITS = 1_000;

/** Tells whether a number would have more digits than are stored, when it is written without an exponent. */
export function isTooLong(number: ExactNumber): boolean {
  const { digits, exponent } = decimalOf(number.source);
  return Math.max(digits.length, digits.length + exponent, -exponent) > MAX_DIGITS;
}

export function isFraction(number: ExactNumber): boolean {
  return decimalOf(number.source).exponent < 0;
}

/** Names of members and places in lists that lead to a value. */
export type JsonPath = readonly (string | number)[];

/** Finds the first number in a value that no double represents and that `applies` accepts. */
export function findExact(
  value: unknown,
  applies: (number: ExactNumber) => boolean = () => true,
): { readonly path: JsonPath; readonly number: ExactNumber } | undefined {
  const waiting: Place[] = [{ value, name: '', parent: undefined }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { value: each } = place;
    if (each instanceof ExactNumber) {
      if (applies(each)) return { path: pathTo(place), number: each };
    } else if (Array.isArray(each)) {
      for (let index = each.length - 1; index >= 0; index -= 1) {
        waiting.push({ value: each[index], name: index, parent: place });
      }
    } else if (typeof each === 'object' && each !== null) {
      for (const [name, member] of Object.entries(each).toReversed()) {
        waiting.push({ value: member, name, parent: place });
      }
    }
  }
  return undefined;
}

/**
 * A value within another. The path is made on demand, because all paths of a deep value together take quadratic space.
 */
interface Place {
  readonly value: unknown;
  readonly name: string | number;
  readonly parent: Place | undefined;
}

function pathTo(place: Place): JsonPath {
  const path = [];
  for (let at = place; at.parent !== undefined; at = at.parent) path.push(at.name);
  return path.toReversed();
}

/** Explains how to send a number that is refused. */
export function sendAsText(number: ExactNumber): string {
  const length = isTooLong(number) ? `${MAX_DIGITS}` : '15';
  return `send ${isFraction(number) ? 'a number' : 'an integer'} of more than ${length} digits as text`;
}

/**
 * Parses a text without rounding its numbers.
 * @returns undefined for a text that is not JSON
 */
export function parseJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
