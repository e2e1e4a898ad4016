import { bounded, CalculationError, Decimal, fromDouble, shown } from './decimal.ts';

export interface Value {
  readonly value: Decimal;
  /** True when all digits are exact. A root, a logarithm or a fractional power has only 15 correct digits. */
  readonly exact: boolean;
}

type Args = readonly Decimal[];

export function applyFunction(name: string, args: readonly Value[]): Value {
  const found = FUNCTIONS.get(name);
  if (found === undefined) {
    throw new CalculationError(`there is no function ${name}; use one of ${[...FUNCTIONS.keys()].join(', ')}`);
  }
  const [least, most] = found.arity;
  if (args.length < least || args.length > most) {
    throw new CalculationError(`${name} takes ${arityText(least, most)}, not ${args.length}`);
  }
  return {
    value: bounded(found.apply(args.map(({ value }) => value))),
    exact: found.exact && args.every(({ exact }) => exact),
  };
}

/**
 * The most digits of an exact power. Larger powers use double precision, because computing all digits would take
 * seconds.
 */
const MAX_POWER_DIGITS = 2_000;

/** Raises to a power: exactly for whole exponents of short numbers, in double precision otherwise. */
export function power(base: Value, exponent: Value): Value {
  const n = exponent.value;
  if (base.value.eq(0) && n.lt(0)) throw new CalculationError('division by zero');
  const whole = n.round().eq(n);
  if (whole && n.abs().times(base.value.c.length).lte(MAX_POWER_DIGITS)) {
    return {
      value: bounded(base.value.pow(n.toNumber())),
      exact: base.exact && exponent.exact && n.gte(0),
    };
  }
  if (base.value.lt(0) && !whole) {
    throw new CalculationError('a negative number has no fractional power');
  }
  return {
    value: bounded(fromDouble(base.value.toNumber() ** n.toNumber())),
    exact: false,
  };
}

interface FunctionOf {
  readonly arity: readonly [number, number];
  readonly exact: boolean;
  readonly apply: (args: Args) => Decimal;
}

const ANY = 1_000;

const FUNCTIONS = new Map<string, FunctionOf>([
  ['abs', { arity: [1, 1], exact: true, apply: ([x]) => only(x).abs() }],
  ['min', { arity: [1, ANY], exact: true, apply: (all) => pick(all, (a, b) => a.lt(b)) }],
  ['max', { arity: [1, ANY], exact: true, apply: (all) => pick(all, (a, b) => a.gt(b)) }],
  ['sum', { arity: [1, ANY], exact: true, apply: sum }],
  ['mean', { arity: [1, ANY], exact: true, apply: (all) => sum(all).div(all.length) }],
  ['median', { arity: [1, ANY], exact: true, apply: median }],
  ['round', { arity: [1, 2], exact: true, apply: ([x, places]) => round(only(x), places) }],
  ['sqrt', { arity: [1, 1], exact: false, apply: ([x]) => sqrt(only(x)) }],
  ['ln', { arity: [1, 1], exact: false, apply: ([x]) => logarithm(only(x)) }],
  ['exp', { arity: [1, 1], exact: false, apply: ([x]) => fromDouble(Math.exp(only(x).toNumber())) }],
]);

function sum(all: Args): Decimal {
  return all.reduce((total, each) => total.plus(each), new Decimal(0));
}

function median(all: Args): Decimal {
  const sorted = all.toSorted((a, b) => a.cmp(b));
  const middle = Math.floor(sorted.length / 2);
  const upper = only(sorted[middle]);
  return sorted.length % 2 === 1 ? upper : upper.plus(only(sorted[middle - 1])).div(2);
}

function round(x: Decimal, places: Decimal | undefined): Decimal {
  const digits = places === undefined ? 0 : places.toNumber();
  if (!Number.isInteger(digits) || digits < 0 || digits > 12) {
    throw new CalculationError('round takes 0 to 12 places');
  }
  // Round half away from zero, as a reader would. Only inner digits are rounded half-even.
  return x.round(digits, 1);
}

function sqrt(x: Decimal): Decimal {
  if (x.lt(0)) throw new CalculationError(`there is no root of ${shown(x)}`);
  // Scale to between 1 and 100 first: big.js never finishes the root of 1e-77.
  const halfExponent = Math.floor(x.e / 2);
  const scaled = x.times(new Decimal(`1e${-2 * halfExponent}`));
  return scaled.sqrt().times(new Decimal(`1e${halfExponent}`));
}

function logarithm(x: Decimal): Decimal {
  if (x.lte(0)) throw new CalculationError(`there is no logarithm of ${shown(x)}`);
  return fromDouble(Math.log(x.toNumber()));
}

function pick(all: Args, better: (a: Decimal, b: Decimal) => boolean): Decimal {
  return all.reduce((best, each) => (better(each, best) ? each : best));
}

function only(value: Decimal | undefined): Decimal {
  if (value === undefined) throw new CalculationError('a number is missing');
  return value;
}

function arityText(least: number, most: number): string {
  if (most === ANY) return `at least ${least} numbers`;
  return least === most ? `${least} number${least === 1 ? '' : 's'}` : `${least} or ${most} numbers`;
}
