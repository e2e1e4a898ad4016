import { MINUTE, wallClockReader } from './minute-oracle.ts';

/** A UTC minute at which the wall clock of a zone does not advance by exactly one minute. */
export interface ClockChange {
  readonly timeZone: string;
  readonly minute: number;
  /** Time that the clock would have shown without the change, read as UTC. */
  readonly expected: Date;
}

/** Finds the changes between two instants: compares the clock every few days, and searches in between. */
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

/** Makes a clock change of any instant. */
export function clockAt(timeZone: string, instant: Date): ClockChange {
  const minute = instant.getTime() / MINUTE;
  const read = wallClockReader(timeZone);
  return { timeZone, minute, expected: new Date((read(minute - 1) + 1) * MINUTE) };
}
