import { MINUTE, wallClockReader } from './minute-oracle.ts';

/** A UTC minute at which a zone's wall clock does not simply go on by one. */
export interface ClockChange {
  readonly timeZone: string;
  readonly minute: number;
  /** The time that the clock would have shown, read as though it were UTC. */
  readonly expected: Date;
}

/** The changes between two instants, found by comparing the clock every few days and searching in between. */
export function clockChanges(timeZone: string, since: Date, until: Date, stepDays = 10): ClockChange[] {
  const read = wallClockReader(timeZone);
  const lead = (minute: number): number => read(minute) - minute;
  const changes: ClockChange[] = [];
  const step = stepDays * 1440;
  const end = until.getTime() / MINUTE;
  let lowLead = lead(since.getTime() / MINUTE);
  for (let low = since.getTime() / MINUTE; low < end; low += step) {
    const highLead = lead(low + step);
    if (highLead === lowLead) continue;
    let before = low;
    let after = low + step;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (lead(middle) === lowLead) before = middle;
      else after = middle;
    }
    lowLead = highLead;
    changes.push(clockAt(timeZone, new Date(after * MINUTE)));
  }
  return changes;
}

/** Any instant as though the clock changed there. */
export function clockAt(timeZone: string, instant: Date): ClockChange {
  const minute = instant.getTime() / MINUTE;
  const read = wallClockReader(timeZone);
  return { timeZone, minute, expected: new Date((read(minute - 1) + 1) * MINUTE) };
}
