import { CronExpressionParser } from 'cron-parser';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextOccurrence, nextOccurrences, parseStoredSchedule } from '#lib/schedule/index.ts';
import { FULL_SIZE, SEED, sized, TIMES } from '#test/support/properties.ts';
import { instantsBetween } from './border-instants.ts';
import { changesOf, notableChanges } from './chosen-changes.ts';
import { knownSchedules } from './known-schedules.ts';
import { MINUTE, wallClockReader } from './minute-oracle.ts';
import { type Next, casesAt, wrongAnswers, wrongSequence } from './oracle-cases.ts';

describe('the schedule rule against a minute-by-minute walk of the wall clock', () => {
  test('agrees in every zone around its clock changes', () => {
    const wrong: string[] = [];
    const zones = new Set<string>();
    let cases = 0;
    const all = Intl.supportedValuesOf('timeZone');
    const some = all.filter((_, index) => FULL_SIZE || index % 10 === 0);
    const changes = [...notableChanges(), ...changesOf(some, SEED)];
    for (const [index, change] of changes.entries()) {
      zones.add(change.timeZone);
      for (const example of casesAt(change, FULL_SIZE ? 5 : 2, SEED + index)) {
        cases += 1;
        wrong.push(...wrongAnswers(ours, example), ...wrongSequence(example));
      }
    }
    expect(wrong.slice(0, 20), `FC_SEED=${SEED}`).toEqual([]);
    expect(cases).toBeGreaterThan(FULL_SIZE ? 5000 : 200);
    expect(zones.size).toBeGreaterThanOrEqual(some.length);
  });

  test('finds cron-parser alone and a fixed offset wrong, so it can tell', () => {
    const cases = notableChanges().flatMap((change, index) => casesAt(change, FULL_SIZE ? 4 : 1, SEED + index));
    const wrong = (next: Next): string[] => cases.flatMap((example) => wrongAnswers(next, example));
    expect(wrong(library).length).toBeGreaterThan(20);
    expect(wrong(fixedOffset).length).toBeGreaterThan(20);
    expect(wrong(ours)).toEqual([]);
  });

  test('agrees with cron-parser in UTC, where no clock changes', () => {
    const near = instantsBetween(new Date('1990-01-01'), new Date('2060-01-01'));
    const cases = near.chain((after) => fc.tuple(knownSchedules(after), fc.constant(after)));
    fc.assert(
      fc.property(cases, ([{ expression }, after]) => {
        const options = { tz: 'UTC', currentDate: after };
        const theirs = CronExpressionParser.parse(expression, options).take(5);
        const schedule = parseStoredSchedule(expression);
        expect(nextOccurrences(schedule, 'UTC', after, 5)).toEqual(theirs.map((date) => date.toDate()));
      }),
      { numRuns: sized(1000) * TIMES },
    );
  });
});

function ours(expression: string, timeZone: string, after: Date): Date {
  return nextOccurrence(parseStoredSchedule(expression), timeZone, after);
}

function library(expression: string, tz: string, currentDate: Date): Date {
  return CronExpressionParser.parse(expression, { tz, currentDate }).next().toDate();
}

/** A wrong implementation: computes on the wall clock and converts back by the offset of the first instant. */
function fixedOffset(expression: string, timeZone: string, after: Date): Date {
  const minute = Math.floor(after.getTime() / MINUTE);
  const lead = (wallClockReader(timeZone)(minute) - minute) * MINUTE;
  const local = ours(expression, 'UTC', new Date(after.getTime() + lead));
  return new Date(local.getTime() - lead);
}
