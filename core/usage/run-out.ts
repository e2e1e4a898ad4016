import { Big } from 'big.js';

/** A calendar day (UTC) of a forecast. */
export interface ForecastDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** The part of the day that the forecast covers, from 0 to 1. */
  readonly share: number;
  readonly runs: number;
}

/** Rate at which a limit is used up, in decimal strings of the limit's own unit. */
export interface Draw {
  readonly max: string;
  /** Amount that everybody has used in the present period. */
  readonly used: string;
  readonly perRun: string;
  readonly othersPerDay: string;
  /** The remainder below which no run begins. */
  readonly least: number;
  /** Names the period that a day belongs to; each begins with nothing used. */
  readonly periodOf: (day: string) => string;
}

/** Returns the first day on which more is asked of a limit than it has left, or null when there is none. */
export function dayOfRunningOut(days: readonly ForecastDay[], draw: Draw): string | null {
  const max = new Big(draw.max);
  let used = new Big(draw.used);
  let period: string | undefined;
  for (const { day, share, runs } of days) {
    if (period !== undefined && draw.periodOf(day) !== period) used = new Big(0);
    period = draw.periodOf(day);
    used = used
      .plus(new Big(draw.othersPerDay).times(share))
      .plus(new Big(draw.perRun).times(runs));
    const beforeLastRun = used.minus(draw.perRun);
    if (used.gt(max) || (runs > 0 && max.minus(beforeLastRun).lt(draw.least))) return day;
  }
  return null;
}
