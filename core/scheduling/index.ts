export { MAX_BACKFILL, backfillRoutine, type Backfill } from './backfill/backfill.ts';
export { forecastBackfill, type BackfillForecast } from './backfill/forecast.ts';
export { createTickParts, doNow, kindsOf, type TickDeps } from './tick-parts.ts';
export { tickInProcess, tickSettled } from './tick.ts';
