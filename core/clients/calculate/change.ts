import { CalculationError, Decimal, decimal, shown, significant } from './decimal.ts';
import { criticalValue, type Interval } from './proportions.ts';

export interface PercentChange {
  readonly difference: string;
  /** Change in percent; null if the earlier value is 0. */
  readonly percent: string | null;
  /** Interval of the change in percent, for counts only. */
  readonly interval: Interval | null;
}

/**
 * Computes the change from one value to another. For counts of independent events it adds an interval: the ratio of two
 * Poisson rates on the log scale (Kirkwood and Sterne, "Essential Medical Statistics", chapter 23). Exposures are the
 * amounts over which the counts were collected: days, sessions, spend.
 */
export function percentChange(input: {
  before: number | string;
  after: number | string;
  counts: boolean;
  exposureBefore?: number | undefined;
  exposureAfter?: number | undefined;
  confidence: number;
}): PercentChange {
  const [n0, n1] = [decimal(input.before, 'before'), decimal(input.after, 'after')];
  const [e0, e1] = [exposure(input.exposureBefore), exposure(input.exposureAfter)];
  // Multiply crosswise, because a small count over a large exposure would be rounded to 0.
  const [before, after] = [n0.times(e1), n1.times(e0)];
  const percent = before.eq(0) ? null : after.minus(before).div(before).times(100);
  return {
    difference: shown(n1.div(e1).minus(n0.div(e0))),
    percent: percent === null ? null : shown(percent, 6),
    interval: input.counts ? countsInterval(input, after, before) : null,
  };
}

function countsInterval(
  input: { before: number | string; after: number | string; confidence: number },
  after: Decimal,
  before: Decimal,
): Interval {
  const [n0, n1] = [Number(input.before), Number(input.after)];
  if (!Number.isInteger(n0) || !Number.isInteger(n1) || n0 < 1 || n1 < 1) {
    throw new CalculationError('with counts: true, before and after must be whole numbers above 0');
  }
  const half = criticalValue(input.confidence) * Math.sqrt(1 / n0 + 1 / n1);
  const ratio = after.div(before).toNumber();
  return {
    low: significant((ratio * Math.exp(-half) - 1) * 100),
    high: significant((ratio * Math.exp(half) - 1) * 100),
  };
}

function exposure(value: number | undefined): Decimal {
  if (value === undefined) return new Decimal(1);
  if (value <= 0) throw new CalculationError('an exposure must be above 0');
  return decimal(value);
}
