import type { Actor } from '#core/audit/index.ts';
import type { Plan } from '#core/billing/index.ts';
import { activateRoutine, type Routine, type RoutineWarning } from '#core/routines/index.ts';
import { databaseTime, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { forecastOf, type ForecastDeps, type ForecastSubject } from './forecast.ts';
import { plannedRuns } from './planned-runs.ts';
import { overLimit } from './over-limit.ts';

/**
 * Activates a routine, and warns where its forecast says that a limit runs out.
 * @param input.refuseOverBudget refuses it then
 * @throws {AppError} `forecast_over_budget` where it is to be refused, and what `activateRoutine` throws
 */
export async function activateWithForecast(
  deps: ForecastDeps & { readonly database: Database },
  by: Actor,
  input: {
    projectId: string;
    organizationId: string;
    plan: Plan;
    id: string;
    refuseOverBudget: boolean;
  },
): Promise<{ routine: Routine; warnings: readonly RoutineWarning[] }> {
  const { refuseOverBudget, ...activation } = input;
  let warnings: readonly RoutineWarning[] = [];
  const routine = await activateRoutine(deps.database, by, {
    ...activation,
    async judge(found) {
      warnings = await warnOfForecast(deps, { ...activation, routine: found });
      const [first] = warnings;
      return first === undefined || !refuseOverBudget
        ? undefined
        : new AppError('forecast_over_budget', first.message);
    },
  });
  return { routine, warnings };
}

/** Warns where a limit runs out in the next 30 days, were the routine active from now on. */
export async function warnOfForecast(
  deps: ForecastDeps,
  subject: ForecastSubject,
): Promise<RoutineWarning[]> {
  const active = { ...subject.routine, state: 'active' };
  const planned = plannedRuns(active, await databaseTime(deps.database));
  const message = overLimit(await forecastOf(deps, subject, planned));
  return message === undefined ? [] : [{ code: 'forecast_over_budget', message }];
}
