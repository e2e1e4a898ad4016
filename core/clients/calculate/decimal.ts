import { Big } from 'big.js';

/** A separate constructor, because the code that counts money sets `DP` and `RM` of the shared `Big`. */
export const Decimal = Big();
Decimal.DP = 30;
Decimal.RM = Big.roundHalfEven;

export type Decimal = Big;

const MAX_DIGITS = 40;
const MAX_EXPONENT = 60;
/** The most zeros after the point. A double has fewer, and sums write all zeros out. */
const MAX_ZEROS = 1_100;
/**
 * Digits that are kept: more than any result needs. Without this limit, products of long numbers would grow without
 * end.
 */
const KEPT_DIGITS = 100;

/**
 * Reads a number exactly, so that 0.1 is a tenth.
 * @throws {CalculationError}
 */
export function decimal(value: number | string, name = 'a number'): Decimal {
  const text = String(value).trim();
  if (!/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?$/.test(text) || text.length > MAX_DIGITS) {
    throw new CalculationError(`${name} must be a plain decimal number, not ${quoted(text)}`);
  }
  return bounded(new Decimal(text.replace(/^\+/, '')));
}

/** @throws {CalculationError} for a result that is larger, or smaller, than every real quantity */
export function bounded(value: Decimal): Decimal {
  if (value.e > MAX_EXPONENT) {
    throw new CalculationError(`the result has more than ${MAX_EXPONENT} digits before the point`);
  }
  if (value.e < -MAX_ZEROS) {
    throw new CalculationError(`the result has more than ${MAX_ZEROS} zeros after the point`);
  }
  return value.c.length > KEPT_DIGITS ? new Decimal(value.prec(KEPT_DIGITS)) : value;
}

/** Rounds a double from a statistical function to the digits that are reliable. */
export function fromDouble(value: number): Decimal {
  return new Decimal(Number(finite(value).toPrecision(15)));
}

/** @throws {CalculationError} when a double has overflowed */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new CalculationError('the result is not a finite number');
  return value;
}

/** Writes a decimal without an exponent and without trailing zeros, with at most `places` decimals. */
export function shown(value: Decimal, places = 12): string {
  return new Decimal(value.round(places)).toFixed();
}

/**
 * Rounds the value of a statistical function to six significant digits.
 * @throws {CalculationError} when a double has overflowed
 */
export function significant(value: number): number {
  return Number(finite(value).toPrecision(6));
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Error for an input without a result. The message is written for the model that sent the input. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError';
}
