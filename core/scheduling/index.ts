export { MAX_BACKFILL, backfillRoutine } from './backfill/backfill.ts';
export { forecastBackfill } from './backfill/forecast.ts';
export { claimDueRoutines, type ClaimDeps } from './claim.ts';
export { forgetExpired } from './housekeeping.ts';
export { createNudges, doNow, kindsOf } from './nudges.ts';
export { createTickParts, type TickDeps } from './tick-parts.ts';
export { tick, tickInProcess, tickSettled } from './tick.ts';
