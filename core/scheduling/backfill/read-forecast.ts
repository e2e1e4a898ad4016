import type { Plan } from '#core/billing/index.ts';
import type { RetentionRule } from '#core/identity/index.ts';
import { readRoutine } from '#core/routines/index.ts';
import type { Forecast, ForecastDeps } from '../forecast/forecast.ts';
import { forecastPast } from './forecast-past.ts';
import type { PastWindow } from './past-instants.ts';
import { planBackfill, type LeftOut } from './plan.ts';

export interface BackfillForecast {
  /** Cost of the runs that the backfill would make. */
  readonly forecast: Forecast;
  readonly leftOut: LeftOut;
  readonly nextFrom: Date | null;
}

/**
 * Forecasts a backfill: the runs that it would make, what they come to, and which limits they pass. Nothing is made.
 * @throws {AppError} `routine_not_found`, and what `planBackfill` throws
 */
export async function forecastBackfill(
  deps: ForecastDeps & { readonly retention: RetentionRule },
  input: PastWindow & {
    readonly projectId: string;
    readonly organizationId: string;
    readonly plan: Plan;
    readonly routineId: string;
    readonly max: number;
  },
): Promise<BackfillForecast> {
  const { projectId, organizationId, plan, routineId, ...rest } = input;
  const { database, retention } = deps;
  const routine = await readRoutine(database, projectId, routineId);
  const window = { ...rest, backfillId: undefined };
  const { instants, leftOut, nextFrom } = await planBackfill(database, routine, window, retention);
  const forecast = await forecastPast(deps, { routine, organizationId, plan }, instants);
  return { forecast, leftOut, nextFrom };
}
