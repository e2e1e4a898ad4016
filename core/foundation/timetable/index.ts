export { checkSchedule, checkTimeZone, checkTiming, previewTimes } from './check-timing.ts';
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
  type TimingFields,
} from './timetable.ts';
