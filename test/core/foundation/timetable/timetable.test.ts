import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  jitterMs,
  maxJitterSeconds,
  nextInTimetable,
  nextTimes,
  parseStoredSchedule,
  timesBetween,
} from '#lib/schedule/index.ts';
import { newId } from '#lib/ids.ts';
import { sized, FULL_SIZE, SEED } from '#test/support/properties.ts';
import { notableChanges } from '#test/lib/schedule/chosen-changes.ts';
import { MINUTE, wallClockReader } from '#test/lib/schedule/minute-oracle.ts';
import { casesAt, type Case } from '#test/lib/schedule/oracle-cases.ts';

const DAY = 86_400_000;

describe('window and skipped dates against the minute-by-minute walk of the wall clock', () => {
  test('agree around clock changes', () => {
    const wrong = allCases().flatMap((example) => faultsOf(example, localDate));
    expect(wrong.slice(0, 20), `FC_SEED=${SEED}`).toEqual([]);
  });

  test('and not where dates are taken in UTC, so the walk can tell', () => {
    const wrong = allCases().flatMap((example) => faultsOf(example, utcDate));
    expect(wrong.length).toBeGreaterThan(sized(50));
  });
});

interface Narrowed extends Case {
  readonly startsAt: Date | null;
  readonly endsAt: Date;
  readonly skipDates: readonly string[];
}

/** Makes schedules at clock changes, each with a window and skipped dates that remove some of its occurrences. */
function allCases(): Narrowed[] {
  return notableChanges().flatMap((change, index) =>
    casesAt(change, FULL_SIZE ? 6 : 2, SEED + index).map((example, nth) => {
      const seed = SEED + index * 31 + nth;
      const around = fc.integer({ min: example.from * MINUTE, max: example.until * MINUTE });
      const narrowing = fc.record({
        start: fc.option(around),
        end: around,
        days: fc.uniqueArray(fc.integer({ min: -2, max: 2 }), { maxLength: 2 }),
      });
      const [{ start, end, days }] = fc.sample(narrowing, { numRuns: 1, seed }) as [
        { start: number | null; end: number; days: number[] },
      ];
      const skipDates = days.map((day) => localDate(example.timeZone, change.minute + day * 1_440));
      const startsAt = start === null ? null : new Date(start);
      return { ...example, startsAt, endsAt: new Date(end), skipDates };
    }),
  );
}

function localDate(timeZone: string, minute: number): string {
  return new Date(wallClockReader(timeZone)(minute) * MINUTE).toISOString().slice(0, 10);
}

function utcDate(_timeZone: string, minute: number): string {
  return new Date(minute * MINUTE).toISOString().slice(0, 10);
}

function faultsOf(example: Narrowed, dateOf: typeof localDate): string[] {
  const { timeZone, from, startsAt, endsAt, skipDates, seeds } = example;
  const schedule = parseStoredSchedule(example.schedule.expression);
  const timetable = { schedule, timezone: timeZone, startsAt, endsAt, skipDates };
  const expected = example.expected
    .filter((minute) => !skipDates.includes(dateOf(timeZone, minute)))
    .map((minute) => minute * MINUTE)
    .filter((time) => (startsAt === null || time >= startsAt.getTime()) && time <= endsAt.getTime());
  const label = `${schedule.expression} in ${timeZone}, ${skipDates.join()}`;
  const before = new Date(from * MINUTE - 1);
  const chain = nextTimes(timetable, before, 100_000).map((date) => date.getTime());
  const faults = chain.join() === expected.join() ? [] : [`${label}: another chain`];
  const counted = timesBetween(timetable, before, new Date(endsAt.getTime() + DAY), 5_000);
  if (counted.count !== Math.min(expected.length, 5_000) || counted.last?.getTime() !== expected.at(-1)) {
    faults.push(`${label}: counted ${JSON.stringify(counted)}, not ${expected.length}`);
  }
  for (const seed of seeds) {
    const next = nextInTimetable(timetable, seed)?.getTime();
    const right = expected.find((time) => time > seed.getTime());
    if (next !== right) faults.push(`${label} after ${seed.toISOString()}: ${next}, not ${right}`);
  }
  return faults;
}

test('a skipped date of a schedule of every minute is passed over at once', () => {
  const skipDates = Array.from({ length: 366 }, (_, day) =>
    new Date(Date.UTC(2027, 0, 1 + day)).toISOString().slice(0, 10),
  );
  const schedule = parseStoredSchedule('* * * * *');
  const timetable = {
    schedule,
    timezone: 'Europe/Berlin',
    startsAt: null,
    endsAt: null,
    skipDates,
  };
  expect(nextInTimetable(timetable, new Date('2026-12-31T22:59:00Z'))).toEqual(new Date('2028-01-01T23:00:00Z'));
});

test.for([
  ['2027-03-28', 'of 23 hours', '2027-03-27T22:30:00Z', '2027-03-28T22:00:00Z'],
  ['2027-10-31', 'of 25 hours', '2027-10-30T21:30:00Z', '2027-10-31T23:00:00Z'],
] as const)('a skipped date %s %s ends at its midnight', ([date, , last, next]) => {
  const schedule = parseStoredSchedule('0,30 * * * *');
  const window = { startsAt: null, endsAt: null, skipDates: [date] };
  const timetable = { schedule, timezone: 'Europe/Berlin', ...window };
  expect(nextInTimetable(timetable, new Date(last))).toEqual(new Date(next));
});

test.for([
  ['* * * * *', 30],
  ['*/7 * * * *', 120],
  ['0 9,17 * * *', 4 * 3_600],
  ['30 23,0 * * *', 30 * 60],
  ['@daily', 12 * 3_600],
  ['0 7 * * 1-5', 12 * 3_600],
  ['@weekly', 7 * 43_200],
  ['0 7 1,15 * *', 7 * 86_400],
  ['@monthly', 14 * 86_400],
  ['0 0 29 2 *', 1_461 * 43_200],
] as const)('the jitter of %s is at most %i seconds', ([expression, seconds]) => {
  expect(maxJitterSeconds(parseStoredSchedule(expression))).toBe(seconds);
});

test('jitter is the same for the same id, whole seconds up to its limit, and even over ids', () => {
  const ids = Array.from({ length: 6_000 }, () => newId('routine'));
  const delays = ids.map((id) => jitterMs(id, 59) / 1_000);
  expect(ids.map((id) => jitterMs(id, 59) / 1_000)).toEqual(delays);
  const counts = Map.groupBy(delays, (delay) => delay);
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, second) => second));
  // Each count is about 100; the limits are eight standard deviations away.
  for (const same of counts.values()) expect(Math.abs(same.length - 100)).toBeLessThan(80);
});

test('no interval of a schedule is shorter than twice its greatest jitter, where no clock changes', () => {
  const expressions = ['*/13 3-7 * * *', '5,50 */5 * * 2,5', '0 0 L * *', '0 12 * * 1#2', '17 4 30 * 3'];
  for (const expression of expressions) {
    const schedule = parseStoredSchedule(expression);
    const timetable = { schedule, timezone: 'UTC', startsAt: null, endsAt: null, skipDates: [] };
    const times = nextTimes(timetable, new Date('2026-01-01T00:00:00Z'), 3_000);
    const gaps = times.slice(1).map((time, index) => time.getTime() - times[index]!.getTime());
    expect(Math.min(...gaps)).toBe(maxJitterSeconds(schedule) * 2_000);
  }
});
