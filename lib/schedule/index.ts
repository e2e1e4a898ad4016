export { ScheduleError } from './expression.ts';
export { minuteAtOrBefore, nextOccurrence, nextOccurrences } from './occurrences.ts';
export { occurrencesBetween } from './occurrences-between.ts';
export { parseSchedule, parseStoredSchedule } from './parse-schedule.ts';
export type { ParsedSchedule } from './parsed-schedule.ts';
export { isTimeZone } from './time-zone.ts';
