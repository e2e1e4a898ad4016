export { minuteAtOrBefore, nextOccurrence, nextOccurrences } from './occurrences.ts';
export { occurrencesBetween, type OccurrenceSummary } from './occurrences-between.ts';
export { parseSchedule, parseStoredSchedule } from './parse-schedule.ts';
export type { ParsedSchedule } from './parsed-schedule.ts';
export { ScheduleError } from './schedule-error.ts';
export { isTimeZone } from './time-zone.ts';
