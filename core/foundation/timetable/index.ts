export {
  checkSchedule,
  checkTimeZone,
  checkTiming,
  previewTimes,
  TIMING_WARNINGS,
  timingWarnings,
} from './check-timing.ts';
export { listOccurrences } from './occurrences.ts';
export {
  isOver,
  nextStarts,
  nextTimeAfterSave,
  nextTimeFrom,
  shownNextRun,
  timeFor,
  timetableOf,
  withoutJitter,
  type Timing,
} from './timetable.ts';
