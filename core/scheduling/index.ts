export { MAX_BACKFILL, backfillRoutine } from './backfill/backfill.ts';
export { forecastBackfill } from './backfill/forecast.ts';
export { createTickParts, doNow, kindsOf, type TickDeps } from './tick-parts.ts';
export { tickInProcess, tickSettled } from './tick.ts';
