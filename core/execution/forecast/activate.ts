import type { Actor } from '#core/foundation/audit/index.ts';
import type { Plan } from '#core/accounts/billing/index.ts';
import { activateRoutine, type Routine, type RoutineWarning } from '#core/authoring/routines/index.ts';
import { limitInWords, RAISED_BY } from '#core/usage/index.ts';
import { databaseTime, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { forecastOf, type Forecast, type ForecastDeps, type ForecastSubject } from './forecast.ts';
import type { LimitForecast } from './limits.ts';
import { plannedRuns } from './planned-runs.ts';

/**
 * Activates a routine, and warns when its forecast exceeds a limit.
 * @param input.refuseOverBudget true to refuse the activation instead of warning
 * @throws {AppError} `forecast_over_budget` for that refusal, and the errors of `activateRoutine`
 */
export async function activateWithForecast(
  deps: ForecastDeps & { readonly database: Database },
  by: Actor,
  input: { projectId: string; organizationId: string; plan: Plan; id: string; refuseOverBudget: boolean },
): Promise<{ routine: Routine; warnings: readonly RoutineWarning[] }> {
  const { refuseOverBudget, ...activation } = input;
  let warnings: readonly RoutineWarning[] = [];
  const routine = await activateRoutine(deps.database, by, {
    ...activation,
    async judge(found) {
      warnings = await warnOfForecast(deps, { ...activation, routine: found });
      const [first] = warnings;
      return first === undefined || !refuseOverBudget ? undefined : new AppError('forecast_over_budget', first.message);
    },
  });
  return { routine, warnings };
}

/** Warns when a limit would run out in the next 30 days if the routine were active from now on. */
export async function warnOfForecast(deps: ForecastDeps, subject: ForecastSubject): Promise<RoutineWarning[]> {
  const active = { ...subject.routine, state: 'active' };
  const planned = plannedRuns(active, await databaseTime(deps.database));
  const message = overLimit(await forecastOf(deps, subject, planned));
  return message === undefined ? [] : [{ code: 'forecast_over_budget', message }];
}

/** The limit that runs out first if each run costs its p95, and the day on which the limit runs out. */
export interface FirstToRunOut {
  readonly limit: LimitForecast;
  readonly day: string;
}

/** Finds the limit that runs out first if each run costs its p95; undefined if none runs out. */
export function firstToRunOut({ runs, limits }: Pick<Forecast, 'runs' | 'limits'>): FirstToRunOut | undefined {
  if (runs.count === 0) return undefined;
  const over = limits.flatMap((limit) => {
    const day = limit.runsOut?.p95 ?? null;
    return day === null ? [] : [{ limit, day }];
  });
  return over.toSorted((a, b) => a.day.localeCompare(b.day))[0];
}

/**
 * Names the limit that the forecast exceeds first, its day, and who may raise it; undefined if no limit is exceeded.
 */
export function overLimit(forecast: Forecast): string | undefined {
  const first = firstToRunOut(forecast);
  if (first === undefined) return undefined;
  const { limit, day } = first;
  const unpriced = limit.name === 'maxCostUsdPerMonth' && forecast.perRun.pricing === 'unpriced';
  const happens = unpriced
    ? `refuses every run from ${day} on, because the model has no prices`
    : `runs out on ${day}: ${inWords(forecast, limit)}`;
  return `By the forecast of the routine, ${limitInWords(limit)} ${happens}. The limit can be raised by ${RAISED_BY[limit.scope]}.`;
}

function inWords({ runs, perRun, total }: Forecast, { name, used }: LimitForecast): string {
  const planned = `${runs.count} runs until ${runs.until.toISOString().slice(0, 10)}`;
  if (name === 'runsPerPeriod') {
    // Mention the next period, because the forecast's 30 days and the plan's period begin on different days.
    return `${planned}, some of which may fall into the next period, and ${used} of this period are used`;
  }
  const cost = name === 'maxCostUsdPerMonth';
  const [each, all] = cost
    ? [`${perRun.p95.costUsd} US dollars`, `${total.p95.costUsd} US dollars`]
    : [`${perRun.p95.tokens} tokens`, `${total.p95.tokens} tokens`];
  return `${planned} at ${each} each are ${all}, and ${used} of this ${cost ? 'month' : 'day'} are used`;
}
