import type { Actor } from '#core/audit/index.ts';
import type { Plan } from '#core/billing/index.ts';
import { activateRoutine, type Routine } from '#core/routines/index.ts';
import { databaseTime, type Database } from '#lib/database/index.ts';
import { forecastOf, type ForecastDeps } from './forecast.ts';
import { plannedRuns } from './planned-runs.ts';
import { refusalOf } from './refusal.ts';

/**
 * Activates a routine, unless its forecast says that a limit runs out and nobody has accepted that.
 * @throws {AppError} `forecast_over_budget`, and what `activateRoutine` throws
 */
export function activateWithForecast(
  deps: ForecastDeps & { readonly database: Database },
  by: Actor,
  input: {
    projectId: string;
    organizationId: string;
    plan: Plan;
    id: string;
    acceptForecast: boolean;
  },
): Promise<Routine> {
  const { acceptForecast, ...activation } = input;
  return activateRoutine(deps.database, by, {
    ...activation,
    forecastAccepted: acceptForecast,
    async judge(routine) {
      if (acceptForecast) return undefined;
      const planned = plannedRuns(
        { ...routine, state: 'active' },
        await databaseTime(deps.database),
      );
      return refusalOf(await forecastOf(deps, { ...activation, routine }, planned));
    },
  });
}
