import { CalculationError, decimal, shown, significant } from './decimal.ts';
import type { Interval } from './proportions.ts';

export interface Pacing {
  readonly expectedShare: string;
  /** Spending at the end of the period if its pace stays the same. */
  readonly projected: string;
  readonly projectedShareOfPlan: string;
  readonly left: string;
  readonly perDayLeft: string | null;
  readonly range: Interval | null;
  /** True when the plan lies inside the range; null without a plan. */
  readonly planInsideRange: boolean | null;
}

/**
 * Projects spend to the end of a period. The range is the projection -/+ two standard deviations of a forecast of the
 * days left. The error of that forecast has two parts, the noise of the days and the error of their level: s·√(R +
 * R²/D), where s is the standard deviation of a day, R the days left and D the days elapsed. With one day left, the
 * range is the interval of the mean method (Hyndman and Athanasopoulos, "Forecasting: Principles and Practice", section
 * 5.5).
 */
export function pacing(input: {
  plan: number | string;
  spent: number | string;
  daysElapsed: number;
  daysTotal: number;
  /** The share of the period's weight that has elapsed. Set if the days of the period have different weights. */
  elapsedShare?: number | undefined;
  dailyDeviation?: number | undefined;
}): Pacing {
  const { daysElapsed, daysTotal } = input;
  if (daysElapsed < 1 || daysElapsed > daysTotal) {
    throw new CalculationError('daysElapsed must lie between 1 and daysTotal');
  }
  const plan = decimal(input.plan, 'plan');
  const spent = decimal(input.spent, 'spent');
  if (plan.lte(0)) throw new CalculationError('plan must be above 0');
  const share =
    input.elapsedShare === undefined
      ? decimal(daysElapsed).div(daysTotal)
      : decimal(input.elapsedShare, 'elapsedShare');
  if (share.lte(0) || share.gt(1)) {
    throw new CalculationError('elapsedShare must be above 0 and at most 1');
  }
  const projected = spent.div(share);
  const left = plan.minus(spent);
  const daysLeft = daysTotal - daysElapsed;
  const range = rangeOf(projected.toNumber(), daysElapsed, daysLeft, input.dailyDeviation);
  return {
    expectedShare: shown(share, 6),
    projected: shown(projected, 2),
    projectedShareOfPlan: shown(projected.div(plan), 6),
    left: shown(left, 2),
    perDayLeft: daysLeft === 0 ? null : shown(left.div(daysLeft), 2),
    range,
    planInsideRange: range && plan.gte(range.low) && plan.lte(range.high),
  };
}

function rangeOf(projected: number, elapsed: number, left: number, deviation: number | undefined): Interval | null {
  if (deviation === undefined) return null;
  if (deviation < 0) throw new CalculationError('dailyDeviation must not be negative');
  const half = 2 * deviation * Math.sqrt(left + (left * left) / elapsed);
  return { low: significant(projected - half), high: significant(projected + half) };
}
