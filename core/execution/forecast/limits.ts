import { Big } from 'big.js';
import { PLANS, type PeriodUsage, type Plan } from '#core/accounts/billing/index.ts';
import {
  MIN_OUTPUT_TOKENS,
  PACE_DAYS,
  type LimitName,
  type LimitScope,
  type OperatorCap,
  type Spending,
} from '#core/usage/index.ts';
import type { Amount, RunEstimate } from './estimate.ts';
import type { ForecastDay } from './planned-runs.ts';

/** A limit, its use so far, and the days on which it runs out. Amounts are decimal strings in the limit's own unit. */
export interface LimitForecast {
  readonly scope: LimitScope;
  readonly name: LimitName;
  readonly max: string;
  /** Amount that all users of the limit have used so far in the present day, month or period. */
  readonly used: string;
  /** Amount that the other users of the limit use a day. */
  readonly othersPerDay: string;
  /**
   * First day (UTC) on which too little is left, by the median and by the p95 of a run; null if there is no such day.
   * The whole value is null when the days cannot be computed.
   */
  readonly runsOut: { readonly p50: string | null; readonly p95: string | null } | null;
}

export interface ForecastInput {
  readonly days: readonly ForecastDay[];
  readonly perRun: RunEstimate;
  readonly spending: Spending;
  readonly operatorCap: OperatorCap;
  readonly allowance: {
    readonly plan: Plan;
    readonly period: PeriodUsage;
    /** Number of runs a day of all other routines. */
    readonly othersPerDay: number;
  };
}

type Limit = Pick<LimitForecast, 'scope' | 'name' | 'max' | 'used' | 'othersPerDay'> &
  Pick<Draw, 'least' | 'periodOf'> & {
    /** Returns the amount that a run takes of the limit; null if that is unknown. */
    readonly takenBy: (run: Amount) => string | null;
  };

export function forecastLimits(input: ForecastInput): LimitForecast[] {
  const { spending, operatorCap, allowance } = input;
  const limits = [
    ...tokenLimits('routine', spending.routine),
    ...costLimits('routine', spending.routine),
    ...tokenLimits('project', spending.project),
    ...costLimits('project', spending.project),
    ...tokenLimits('organization', spending.organization),
    ...costLimits('organization', spending.organization),
    ...costLimits('operator', spending.organization, operatorCap ?? null),
    allowanceLimit(allowance),
  ];
  return limits.map((limit) => {
    const { scope, name, max, used, othersPerDay } = limit;
    return { scope, name, max, used, othersPerDay, runsOut: runsOutOf(limit, input) };
  });
}

function runsOutOf(limit: Limit, { days, perRun }: Pick<ForecastInput, 'days' | 'perRun'>): LimitForecast['runsOut'] {
  if (limit.name === 'maxCostUsdPerMonth' && perRun.pricing === 'unpriced') {
    // Return the day of the first run, because a limit of cost refuses every run on a model without prices.
    const first = days.find(({ runs }) => runs > 0)?.day ?? null;
    return { p50: first, p95: first };
  }
  const [p50, p95] = [limit.takenBy(perRun.p50), limit.takenBy(perRun.p95)];
  if (p50 === null || p95 === null) return null;
  return {
    p50: dayOfRunningOut(days, { ...limit, perRun: p50 }),
    p95: dayOfRunningOut(days, { ...limit, perRun: p95 }),
  };
}

function tokenLimits(scope: LimitScope, spending: Spending['routine']): Limit[] {
  const { maxTokensPerDay } = spending.budget;
  if (maxTokensPerDay === null) return [];
  return [
    {
      scope,
      name: 'maxTokensPerDay',
      max: String(maxTokensPerDay),
      used: spending.tokensToday,
      othersPerDay: perDay(spending.othersTokens, 0),
      least: MIN_OUTPUT_TOKENS,
      periodOf: (day) => day,
      takenBy: ({ tokens }) => (tokens === null ? null : String(tokens)),
    },
  ];
}

function costLimits(
  scope: LimitScope,
  spending: Spending['routine'],
  max: string | null = spending.budget.maxCostUsdPerMonth,
): Limit[] {
  if (max === null) return [];
  return [
    {
      scope,
      name: 'maxCostUsdPerMonth',
      max,
      used: spending.costUsdThisMonth,
      othersPerDay: perDay(spending.othersCostUsd, 10),
      least: 0,
      periodOf: monthOf,
      takenBy: ({ costUsd }) => costUsd,
    },
  ];
}

function allowanceLimit({ plan, period, othersPerDay }: ForecastInput['allowance']): Limit {
  const { end, kind, runs } = period;
  const lastDay = new Date(end.getTime() - 1).toISOString().slice(0, 10);
  return {
    scope: 'plan',
    name: 'runsPerPeriod',
    max: String(PLANS[plan].runsPerPeriod),
    used: String(runs),
    othersPerDay: new Big(othersPerDay).round(2).toFixed(),
    least: 0,
    periodOf: kind === 'month' ? monthOf : (day) => (day <= lastDay ? 'present' : 'next'),
    takenBy: () => '1',
  };
}

function monthOf(day: string): string {
  return day.slice(0, 7);
}

function perDay(sum: string, decimals: number): string {
  return new Big(sum).div(PACE_DAYS).round(decimals).toFixed();
}

/** A limit and its use over time, in decimal strings of the limit's own unit. */
interface Draw {
  readonly max: string;
  /** Amount that all users of the limit have used in the present period. */
  readonly used: string;
  readonly perRun: string;
  readonly othersPerDay: string;
  /** The remainder below which no run begins. */
  readonly least: number;
  /** Names the period that a day belongs to; each period begins with nothing used. */
  readonly periodOf: (day: string) => string;
}

/** Returns the first day whose need exceeds the remaining limit; null if there is no such day. */
export function dayOfRunningOut(days: readonly ForecastDay[], draw: Draw): string | null {
  const max = new Big(draw.max);
  let used = new Big(draw.used);
  let period: string | undefined;
  for (const { day, share, runs } of days) {
    if (period !== undefined && draw.periodOf(day) !== period) used = new Big(0);
    period = draw.periodOf(day);
    used = used.plus(new Big(draw.othersPerDay).times(share)).plus(new Big(draw.perRun).times(runs));
    const beforeLastRun = used.minus(draw.perRun);
    if (used.gt(max) || (runs > 0 && max.minus(beforeLastRun).lt(draw.least))) return day;
  }
  return null;
}
