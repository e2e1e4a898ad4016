import type { ParsedSchedule } from './parsed-schedule.ts';
import { MINUTES_PER_DAY, nextLocalMinute } from './wall-clock.ts';
import { type OffsetSpan, offsetSpanAt } from './zone-offsets.ts';

// The rule. An *every-hour* schedule is one whose hour field admits all 24 hours, in any spelling.
//
// 1. A schedule has an occurrence when the zone's wall clock shows a local time that its fields match.
// 2. Twice: a local time that the clock shows twice is an occurrence the first time only. If the minute or hour field
//    is a wildcard (admits all its values) or has a step (`/`), it is an occurrence both times.
//    So `30 1-3 * * *` runs once at 01:30, while `0 * * * *` and `*/15 * * * *` run every real hour and
//    quarter, and `*/15 1 * * *` runs every quarter of both hours that are called one o'clock.
// 3. Never: a local time that the clock skips is an occurrence at the first minute after the gap. All skipped times of
//    one gap are one occurrence. If the fields match that minute too, it is the same occurrence.
//    So `30 2 * * *`, `*/5 2 * * *` and `0 */2 * * *` run once at 03:00 when 02:00-03:00 is skipped.
// 4. Rule 3 does not apply to an every-hour schedule, which names no hour that could be missed: `7 * * * *`
//    continues at 03:07 without a run at 03:00, which the schedule does not ask for. The exception is a date that is
//    skipped whole (Apia had no 30 December 2011): rule 3 applies, because the schedule may name that date.
//
// Occurrences are whole UTC minutes, and local times have no seconds. If a historical offset has seconds, the local
// time of a UTC minute is the time on the wall clock, cut to the minute.

/**
 * Finds the first UTC minute at or after `from` at which a schedule occurs in a time zone, by the rule above.
 * @throws {RangeError} when there is none within fifty years, or `Intl` does not know the zone
 */
export function nextOccurrenceMinute(schedule: ParsedSchedule, timeZone: string, from: number): number {
  const horizon = from + HORIZON;
  for (let minute = from; minute < horizon;) {
    const span = offsetSpanAt(timeZone, minute);
    if (minute === span.start && skipsOccurrence(schedule, span)) return minute;
    // The clock showed local times below `unseen` before it went back at the start of the span.
    const unseen = span.start + span.previousOffset;
    const local = minute + span.offset;
    const earliest = schedule.bothPasses ? local : Math.max(local, unseen);
    const next = nextLocalMinute(schedule, earliest, horizon);
    if (next === undefined) break;
    if (next < span.end + span.offset) return next - span.offset;
    // Nothing is due until about `next`. If `next` is far, jump close to it without measuring the spans before. If
    // `minute` is near the end of its span, do not jump: a clock that is set back there shows earlier times again.
    const isNear = span.end - minute < MARGIN;
    minute = isNear ? span.end : Math.max(span.end, next - span.offset - MARGIN);
  }
  throw new RangeError(`the schedule "${schedule.expression}" has no occurrence in ${timeZone}`);
}

/**
 * Tells whether the gap before the span, if there is one, skipped a time for which rules 3 and 4 give an occurrence.
 */
function skipsOccurrence(schedule: ParsedSchedule, span: OffsetSpan): boolean {
  let from = span.start + span.previousOffset;
  let before = span.start + span.offset;
  if (schedule.everyHour) {
    from = Math.ceil(from / MINUTES_PER_DAY) * MINUTES_PER_DAY;
    before = Math.floor(before / MINUTES_PER_DAY) * MINUTES_PER_DAY;
  }
  return from < before && nextLocalMinute(schedule, from, before) !== undefined;
}

// The longest search: the rarest schedule, the fifth Monday of February, waits 40 years across a year like 2100.
const HORIZON = 50 * 366 * MINUTES_PER_DAY;
// A time longer than the difference between any two offsets of a zone.
const MARGIN = 3 * MINUTES_PER_DAY;
