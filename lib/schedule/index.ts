export { ScheduleError } from './expression.ts';
export { jitterMs, maxJitterSeconds } from './jitter.ts';
export { minuteAtOrBefore, nextOccurrence, nextOccurrences } from './occurrences.ts';
export { occurrencesBetween } from './occurrences-between.ts';
export { parseSchedule, parseStoredSchedule } from './parse-schedule.ts';
export { isTimeZone } from './time-zone.ts';
export { nextInTimetable, nextTimes, timesBetween, type Timetable } from './timetable.ts';
