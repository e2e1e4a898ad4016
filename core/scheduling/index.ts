export { claimDueRoutines, type ClaimDeps } from './claim.ts';
export { tickInProcess, tickSettled } from './tick-in-process.ts';
export { createTickParts, tick, type TickDeps, type TickReport } from './tick.ts';
