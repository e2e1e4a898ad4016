import { CalculationError } from './decimal.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Computes Wilson's score interval (Journal of the American Statistical Association 22, 1927), uncorrected. */
export function wilson(successes: number, total: number, confidence = 0.95): Interval {
  if (!Number.isInteger(successes) || !Number.isInteger(total) || successes < 0 || total <= 0) {
    throw new CalculationError('successes and total must be whole numbers, total above 0');
  }
  if (successes > total) throw new CalculationError(`${successes} successes are more than the total of ${total}`);
  const z = criticalValue(confidence);
  const p = successes / total;
  const centre = (p + (z * z) / (2 * total)) / (1 + (z * z) / total);
  const half = (z * Math.sqrt((p * (1 - p)) / total + (z * z) / (4 * total * total))) / (1 + (z * z) / total);
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

interface TwoProportions {
  readonly rateA: number;
  readonly rateB: number;
  /** Rate of B minus rate of A. */
  readonly difference: number;
  readonly interval: Interval;
  /** The difference as a share of A's rate; null if A's rate is 0. */
  readonly relative: number | null;
  /** The z statistic; null if both rates are 0 or both are 1. */
  readonly z: number | null;
  readonly pValue: number | null;
}

/**
 * Compares two rates by the pooled z-test, and by Newcombe's hybrid score interval for the difference (Statistics in
 * Medicine 17, 1998, method 10). Unlike the textbook interval, Newcombe's is right for small counts too.
 */
export function twoProportions(
  a: { successes: number; total: number },
  b: { successes: number; total: number },
  confidence = 0.95,
): TwoProportions {
  const scoreA = wilson(a.successes, a.total, confidence);
  const scoreB = wilson(b.successes, b.total, confidence);
  const rateA = a.successes / a.total;
  const rateB = b.successes / b.total;
  const difference = rateB - rateA;
  const pooled = (a.successes + b.successes) / (a.total + b.total);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / a.total + 1 / b.total));
  const z = error === 0 ? null : difference / error;
  return {
    rateA,
    rateB,
    difference,
    interval: {
      low: difference - Math.hypot(rateB - scoreB.low, scoreA.high - rateA),
      high: difference + Math.hypot(scoreB.high - rateB, rateA - scoreA.low),
    },
    relative: rateA === 0 ? null : difference / rateA,
    z,
    pValue: z === null ? null : twoSided(z),
  };
}

/**
 * Computes the units that each arm needs to find the difference of two rates (Fleiss, Levin and Paik, "Statistical
 * Methods for Rates and Proportions", section 4.2), without continuity correction. `power.prop.test` of R gives the
 * same.
 */
export function sampleSize(input: {
  baseline: number;
  target: number;
  power: number;
  alpha: number;
  sides: 1 | 2;
}): number {
  const { baseline: p1, target: p2 } = input;
  if (p1 === p2) throw new CalculationError('the baseline and the target are the same rate');
  if ([p1, p2].some((p) => p <= 0 || p >= 1)) {
    throw new CalculationError('the baseline and the target must lie between 0 and 1');
  }
  const zAlpha = normalQuantile(1 - input.alpha / input.sides);
  const zPower = normalQuantile(input.power);
  const middle = (p1 + p2) / 2;
  const root = zAlpha * Math.sqrt(2 * middle * (1 - middle)) + zPower * Math.sqrt(p1 * (1 - p1) + p2 * (1 - p2));
  return (root / (p1 - p2)) ** 2;
}

/**
 * Computes the normal distribution function to about 1e-14 (Marsaglia, "Evaluating the Normal Distribution", Journal of
 * Statistical Software 11(4), 2004).
 */
function normalCdf(x: number): number {
  if (x < 0) return 1 - normalCdf(-x);
  if (x > 3) return 1 - upperTail(x);
  let term = x;
  let total = x;
  for (let i = 3; Math.abs(term) > 1e-17; i += 2) {
    term *= (x * x) / i;
    total += term;
  }
  return 0.5 + total * density(x);
}

function twoSided(z: number): number {
  const size = Math.abs(z);
  return size > 3 ? 2 * upperTail(size) : 2 * (1 - normalCdf(size));
}

function normalQuantile(p: number): number {
  let low = -9;
  let high = 9;
  for (let i = 0; i < 80; i += 1) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Computes the z of a two-sided interval: 1.96 for 0.95. */
export function criticalValue(confidence: number): number {
  return normalQuantile(0.5 + confidence / 2);
}

function upperTail(x: number): number {
  let fraction = x;
  for (let i = 80; i >= 1; i -= 1) fraction = x + i / fraction;
  return density(x) / fraction;
}

function density(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
}
