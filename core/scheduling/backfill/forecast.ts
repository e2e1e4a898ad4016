import type { Plan } from '#core/accounts/billing/index.ts';
import type { RetentionRule } from '#core/accounts/settings/index.ts';
import { readRoutine } from '#core/authoring/routines/index.ts';
import { databaseTime } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  forecastOf,
  overLimit,
  plannedToday,
  type Forecast,
  type ForecastDeps,
} from '#core/execution/forecast/index.ts';
import { planBackfill, type LeftOut, type PastWindow } from './plan.ts';

export interface WantedBackfill extends PastWindow {
  readonly projectId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly routineId: string;
  /** The most runs of the backfill. */
  readonly max: number;
}

export interface BackfillForecast {
  /** The runs that the backfill would make, and their usage. */
  readonly forecast: Forecast;
  readonly leftOut: LeftOut;
  readonly nextFrom: Date | null;
}

/**
 * Forecasts a backfill without making it: its runs, their usage, and the limits that they exceed.
 * @throws {AppError} `routine_not_found`, and the errors of `planBackfill`
 */
export async function forecastBackfill(
  deps: ForecastDeps & { readonly retention: RetentionRule },
  input: WantedBackfill,
): Promise<BackfillForecast> {
  const { projectId, organizationId, plan, routineId, ...rest } = input;
  const { database, retention } = deps;
  const routine = await readRoutine(database, projectId, routineId);
  const window = { ...rest, backfillId: undefined };
  const { instants, leftOut, nextFrom } = await planBackfill(database, routine, window, retention);
  // Plan as if all instants ran today, because a backfill has no fixed day.
  const planned = plannedToday(instants, await databaseTime(database));
  return { forecast: await forecastOf(deps, { routine, organizationId, plan }, planned), leftOut, nextFrom };
}

/** Makes the error that states the cost of a backfill, and the limits that it exceeds. */
export function notAccepted(forecast: Forecast): AppError {
  const { total, perRun } = forecast;
  const { count, first, last } = forecast.runs;
  const come = `${count} ${count === 1 ? 'run' : 'runs'}, from ${first?.toISOString()} to ${last?.toISOString()}, are forecast to use ${inWords(total.p50)} (p50) or ${inWords(total.p95)} (p95), by ${BASES[perRun.basis]}.`;
  const accept = 'Send acceptForecast: true to accept this usage and start the runs.';
  const said = [come, overLimit(forecast), accept].filter((each) => each !== undefined);
  return new AppError('forecast_not_accepted', said.join(' '));
}

const BASES = {
  version_runs: 'what the runs of this version have used',
  proof_run: 'what the proof run has used',
  limits: 'the most that the limits of the routine allow',
} as const;

function inWords({ tokens, costUsd }: { readonly tokens: number | null; readonly costUsd: string | null }): string {
  const used = tokens === null ? 'an unknown number of tokens' : `${tokens} tokens`;
  return `${used} and ${costUsd === null ? 'an unknown price' : `${costUsd} US dollars`}`;
}
