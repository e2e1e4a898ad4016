export { ScheduleError } from './expression.ts';
export { jitterMs, maxJitterSeconds } from './jitter.ts';
export { minuteAtOrBefore, nextOccurrence, nextOccurrences, occurrencesBetween } from './occurrences.ts';
export { parseSchedule, parseStoredSchedule } from './parse-schedule.ts';
export { eitherDayInWords, scheduleInWords } from './words.ts';
export { readSchedulePhrase, type PhraseReading } from './phrase.ts';
export { isTimeZone } from './wall-clock.ts';
export { dateIn, nextInTimetable, nextTimes, timesBetween, type Timetable } from './timetable.ts';
