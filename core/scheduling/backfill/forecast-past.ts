import { databaseTime } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  forecastOf,
  type Forecast,
  type ForecastDeps,
  type ForecastSubject,
} from '../forecast/forecast.ts';
import { overLimit } from '../forecast/over-limit.ts';

const DAY_MS = 86_400_000;

/** Forecasts the cost of runs for past instants, as if all of them ran today. */
export async function forecastPast(
  deps: ForecastDeps,
  subject: ForecastSubject,
  instants: readonly Date[],
): Promise<Forecast> {
  const now = await databaseTime(deps.database);
  const count = instants.length;
  const [first, last] = [instants[0] ?? null, instants.at(-1) ?? null];
  const midnight = new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);
  const share = (midnight.getTime() - now.getTime()) / DAY_MS;
  const days = [{ day: now.toISOString().slice(0, 10), share, runs: count }];
  return forecastOf(deps, subject, { from: now, until: now, count, first, last, days });
}

/** Makes the error that states the cost of a backfill, and the limits that it exceeds. */
export function notAccepted(forecast: Forecast): AppError {
  const { total, perRun } = forecast;
  const { count, first, last } = forecast.runs;
  const come = `${count} ${count === 1 ? 'run' : 'runs'}, from ${first?.toISOString()} to ${last?.toISOString()}, come to ${inWords(total.p50)} (p50) or ${inWords(total.p95)} (p95), by ${BASES[perRun.basis]}.`;
  const accept = 'With acceptForecast: true that is accepted, and they start.';
  const said = [come, overLimit(forecast), accept].filter((each) => each !== undefined);
  return new AppError('forecast_not_accepted', said.join(' '));
}

const BASES = {
  version_runs: 'what the runs of this version have used',
  proof_run: 'what the proof run has used',
  limits: 'the most that the limits of the routine allow',
} as const;

function inWords({
  tokens,
  costUsd,
}: {
  readonly tokens: number | null;
  readonly costUsd: string | null;
}): string {
  const used = tokens === null ? 'an unknown number of tokens' : `${tokens} tokens`;
  return `${used} and ${costUsd === null ? 'an unknown price' : `${costUsd} US dollars`}`;
}
