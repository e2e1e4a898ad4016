import * as fc from 'fast-check';
import { type ClockChange, clockAt, clockChanges } from './clock-changes.ts';
import { MINUTE } from './minute-oracle.ts';

/** Unusual clock changes that are always tested, in addition to those of random years. */
const NOTABLE: readonly (readonly [timeZone: string, since: string, until: string])[] = [
  ['Australia/Lord_Howe', '2026-01-01', '2027-12-31'], // half an hour
  ['America/Havana', '2026-01-01', '2027-12-31'], // at midnight, both ways
  ['Asia/Beirut', '2026-01-01', '2027-12-31'], // at midnight, both ways
  ['America/Sao_Paulo', '2017-01-01', '2019-12-31'], // at midnight, south
  ['America/Santiago', '2026-01-01', '2027-12-31'], // at midnight, south
  ['Antarctica/Troll', '2026-01-01', '2027-12-31'], // two hours
  ['Africa/Casablanca', '2026-01-01', '2027-12-31'], // around Ramadan
  ['Europe/Dublin', '2026-01-01', '2027-12-31'],
  ['Pacific/Apia', '2011-01-01', '2012-12-31'], // a date skipped
  ['Pacific/Kwajalein', '1993-01-01', '1993-12-31'], // a date skipped
  ['Pacific/Kiritimati', '1994-01-01', '1995-12-31'], // a date skipped
  ['Pacific/Kwajalein', '1969-01-01', '1970-01-01'], // a date twice
  ['Africa/Monrovia', '1971-06-01', '1972-12-31'], // 44 minutes 30 seconds
  ['Antarctica/Casey', '1968-06-01', '1969-12-31'], // eight hours, on the edge of a cached year
  ['Asia/Kathmandu', '1985-06-01', '1986-12-31'], // a quarter of an hour
  ['America/Caracas', '2007-06-01', '2016-12-31'], // half an hour, both ways
  ['Africa/Freetown', '1939-01-01', '1940-12-31'], // four days of summer
];

/** Chooses the changes of 2027 and any two since 1880 for each zone; any time for a zone without changes. */
export function changesOf(zones: readonly string[], seed: number): ClockChange[] {
  return zones.flatMap((zone, index) => {
    const all = clockChanges(zone, january(1880), january(2038));
    if (all.length === 0) return clockAt(zone, january(2026));
    const recent = all.filter(({ minute }) => inYear(minute, 2027));
    const some = Math.min(2, all.length);
    const others = fc.sample(fc.shuffledSubarray(all, { minLength: some, maxLength: some }), {
      numRuns: 1,
      seed: seed + index,
    });
    return [...recent, ...others.flat()];
  });
}

export function notableChanges(): ClockChange[] {
  return NOTABLE.flatMap(([zone, since, until]) => clockChanges(zone, new Date(since), new Date(until), 2));
}

function inYear(minute: number, year: number): boolean {
  return new Date(minute * MINUTE).getUTCFullYear() === year;
}

function january(year: number): Date {
  return new Date(Date.UTC(year, 0, 1));
}
