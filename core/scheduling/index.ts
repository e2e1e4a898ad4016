export { backfillRoutine, MAX_BACKFILL, type Backfill } from './backfill/backfill.ts';
export { claimDueRoutines, type ClaimDeps } from './claim.ts';
export { activateWithForecast } from './forecast/activate.ts';
export { readForecast, type Forecast } from './forecast/forecast.ts';
export { FORECAST_DAYS } from './forecast/planned-runs.ts';
export { firstToRunOut } from './forecast/refusal.ts';
export { tickInProcess, tickSettled } from './tick-in-process.ts';
export { tick, type TickReport } from './tick.ts';
export { createTickParts, type TickDeps } from './tick-parts.ts';
