import fc from 'fast-check';
import { clockChanges } from './clock-changes.ts';
import { MINUTE } from './minute-oracle.ts';

const DAY_MS = 86_400_000;

/**
 * Generates instants between two midnights (UTC), every other one at or near a border, because random dates hardly ever
 * hit one.
 */
export function instantsBetween(since: Date, until: Date, zones: readonly string[] = []): fc.Arbitrary<Date> {
  const dates = fc.date({ min: since, max: until, noInvalidDate: true });
  const borders = [
    ...monthsOf(since, until),
    ...zones.flatMap((zone) => clockChanges(zone, since, until).map(({ minute }) => minute * MINUTE)),
  ];
  const near = fc.oneof(
    fc.constantFrom(-MINUTE, -1, 0, 1, MINUTE),
    // These instants are within minutes of the border, so that jitter can move the start of a run across the border.
    fc.integer({ min: -10 * MINUTE, max: 10 * MINUTE }),
    fc.integer({ min: -24, max: 24 }).map((hours) => hours * 60 * MINUTE),
  );
  const besideBorder = fc.tuple(fc.constantFrom(...borders), near).map(([border, beside]) => new Date(border + beside));
  const besideMidnight = fc
    .tuple(dates, near)
    .map(([date, beside]) => new Date(Math.floor(date.getTime() / DAY_MS) * DAY_MS + beside));
  return fc.oneof(
    { weight: 2, arbitrary: dates },
    { weight: 1, arbitrary: besideMidnight },
    { weight: 1, arbitrary: besideBorder },
  );
}

/** Lists the first midnight (UTC) of each month and the midnight before, which includes leap days and New Year. */
function monthsOf(since: Date, until: Date): number[] {
  const count = (until.getUTCFullYear() - since.getUTCFullYear()) * 12 + until.getUTCMonth() - since.getUTCMonth();
  return Array.from({ length: count }, (_, month) =>
    Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 1 + month),
  ).flatMap((first) => [first - DAY_MS, first]);
}
