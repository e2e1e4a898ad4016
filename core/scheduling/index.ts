export {
  isTimeZone,
  minuteAtOrBefore,
  nextOccurrence,
  nextOccurrences,
  occurrencesBetween,
  parseSchedule,
  parseStoredSchedule,
  ScheduleError,
  type OccurrenceSummary,
  type ParsedSchedule,
} from './schedule/index.ts';
export { claimDueRoutines, type Claimed, type ClaimDeps } from './claim.ts';
export { dispatchQueuedRuns, type DispatchDeps } from './dispatch.ts';
export { sweepOpenRuns } from './sweep.ts';
export { tick, type TickDeps, type TickReport } from './tick.ts';
