export { backfillRoutine, MAX_BACKFILL, type Backfill } from './backfill/backfill.ts';
export { forecastBackfill, type BackfillForecast } from './backfill/forecast.ts';
export { claimDueRoutines, type ClaimDeps } from './claim.ts';
export { activateWithForecast, firstToRunOut, warnOfForecast } from './forecast/activate.ts';
export { readForecast, type Forecast } from './forecast/forecast.ts';
export { FORECAST_DAYS } from './forecast/planned-runs.ts';
export { tick, tickInProcess, tickSettled } from './tick.ts';
export { createTickParts, type TickDeps } from './tick-parts.ts';
