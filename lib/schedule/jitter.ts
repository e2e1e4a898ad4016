import { createHash } from 'node:crypto';
import { type ParsedSchedule, nextScheduledDay } from './parsed-schedule.ts';
import { MINUTES_PER_DAY, MINUTES_PER_HOUR } from './wall-clock.ts';

/**
 * Returns the delay of a routine in milliseconds: whole seconds from 0 to `jitterSeconds`, always the same for an id,
 * and evenly spread over ids.
 */
export function jitterMs(id: string, jitterSeconds: number): number {
  if (jitterSeconds === 0) return 0;
  const fraction = createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;
  return Math.floor(fraction * (jitterSeconds + 1)) * 1_000;
}

/** Returns the longest allowed jitter of a schedule: half of its shortest interval, in whole seconds. */
export function maxJitterSeconds(schedule: ParsedSchedule): number {
  return (shortestInterval(schedule) * 60) / 2;
}

/**
 * Returns the shortest interval of a schedule in minutes. A clock change may bring two occurrences closer together, but
 * both have the same delay, so their order stays.
 */
function shortestInterval({ hours, minutes, days }: ParsedSchedule): number {
  const times = hours.flatMap((hour) => minutes.map((minute) => hour * MINUTES_PER_HOUR + minute));
  const first = times.at(0) ?? 0;
  const last = times.at(-1) ?? 0;
  const withinDay = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return Math.min(...withinDay, fewestDaysApart(days) * MINUTES_PER_DAY + first - last);
}

// First day (2000-01-01) of two cycles of 28 years, which contain every calendar of this century and the last twice.
const FIRST_DAY = 10_957;
const LAST_DAY = FIRST_DAY + 2 * 10_227;

function fewestDaysApart(days: ParsedSchedule['days']): number {
  let fewest = Infinity;
  let day = nextScheduledDay(days, FIRST_DAY, LAST_DAY);
  while (day !== undefined && fewest > 1) {
    const following = nextScheduledDay(days, day + 1, LAST_DAY);
    if (following !== undefined) fewest = Math.min(fewest, following - day);
    day = following;
  }
  return fewest;
}
