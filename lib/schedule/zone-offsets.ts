import { LRUCache } from 'lru-cache';
import { MINUTES_PER_DAY, MINUTES_PER_HOUR, MS_PER_MINUTE } from './wall-clock.ts';

/** A stretch of UTC minutes, counted from the epoch, over which a zone keeps one offset. */
export interface OffsetSpan {
  /** First minute of the offset, or a later minute that is at least `LEAD_IN` before the requested minute. */
  readonly start: number;
  /** The minute before which the span ends; the offset may last longer. */
  readonly end: number;
  /** Whole minutes to add to UTC for local time; a sub-minute historical offset is rounded down. */
  readonly offset: number;
  /** The offset in the minute before `start`. */
  readonly previousOffset: number;
}

/**
 * Returns the span of `timeZone` that contains a UTC minute.
 * @throws {RangeError} for a zone that `Intl` does not know
 */
export function offsetSpanAt(timeZone: string, minute: number): OffsetSpan {
  const block = Math.floor(minute / BLOCK_MINUTES);
  const spans = zones.memo(timeZone).memo(block);
  for (const span of spans) if (minute < span.end) return span;
  throw new RangeError(`minute ${minute} is not a time`);
}

// Measuring a block of a year costs about 0.5 ms and a look-up well under a microsecond, while one question to Intl
// costs a microsecond. Measured blocks are plain numbers; formatters are not kept.
const BLOCK_MINUTES = 365 * MINUTES_PER_DAY;
// Each block begins before its first minute, so that it includes a change whose repeated times reach into the block.
const LEAD_IN = 3 * MINUTES_PER_DAY;
const MAX_BLOCKS = 100;
const MAX_ZONES = 1000;
const zones = new LRUCache<string, LRUCache<number, readonly OffsetSpan[]>>({
  max: MAX_ZONES,
  memoMethod: (timeZone) =>
    new LRUCache({
      max: MAX_BLOCKS,
      memoMethod: (block) => measureSpans(timeZone, block * BLOCK_MINUTES),
    }),
});

/**
 * Samples the offset once a day and searches the minute of each change. No zone has ever changed its offset and back
 * within a day: the shortest such time on record, Freetown's of 1939, was four days.
 */
function measureSpans(timeZone: string, blockStart: number): readonly OffsetSpan[] {
  const offsetAt = offsetReader(timeZone);
  const end = blockStart + BLOCK_MINUTES;
  const spans: OffsetSpan[] = [];
  let start = blockStart - LEAD_IN;
  let offset = offsetAt(start);
  let previousOffset = offset;
  let known = start;
  while (known < end - 1) {
    const sample = Math.min(known + MINUTES_PER_DAY, end - 1);
    if (offsetAt(sample) === offset) {
      known = sample;
      continue;
    }
    const change = firstChange(offsetAt, known, sample);
    spans.push({ start, end: change, offset, previousOffset });
    previousOffset = offset;
    offset = offsetAt(change);
    start = change;
    known = change;
  }
  spans.push({ start, end, offset, previousOffset });
  return spans;
}

function firstChange(offsetAt: (minute: number) => number, low: number, high: number): number {
  const offset = offsetAt(low);
  let same = low;
  let different = high;
  while (different - same > 1) {
    const middle = Math.floor((same + different) / 2);
    if (offsetAt(middle) === offset) same = middle;
    else different = middle;
  }
  return different;
}

function offsetReader(timeZone: string): (minute: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (minute) => {
    // The text ends in an offset like "GMT-00:44:30", or in plain "GMT" for zero.
    const text = format.format(minute * MS_PER_MINUTE);
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
    if (match === null) throw new RangeError(`no offset of ${timeZone} in "${text}"`);
    const [, sign, hours, minutes, seconds = '0'] = match;
    if (sign === undefined) return 0;
    const offset = Number(hours) * MINUTES_PER_HOUR + Number(minutes) + Number(seconds) / 60;
    return Math.floor(sign === '-' ? -offset : offset);
  };
}
