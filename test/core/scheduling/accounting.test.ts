import fc from 'fast-check';
import { expect } from 'vitest';
import { nextTimeFrom, withoutJitter } from '#core/foundation/timetable/index.ts';
import { setNextTimes } from '#core/authoring/routines/index.ts';
import { sized, TIMES } from '#test/support/properties.ts';
import { changeRuns, ifAny } from '#test/support/given.ts';
import { instantsBetween } from '#test/lib/schedule/border-instants.ts';
import { clockTest } from './clock-test.ts';
import { accountingFaults, occurrencesOf, plantRoutine } from './planted.ts';
import { removeAll, routineIds } from './routine-ids.ts';

const test = clockTest();

const HOUR = 3_600_000;

const tickAfter = fc.record({
  ms: fc.oneof(
    fc.integer({ min: 1_000, max: 90_000 }),
    fc.integer({ min: 60_000, max: 5 * HOUR }),
    fc.integer({ min: HOUR, max: 4 * 24 * HOUR }),
    fc.constantFrom(HOUR, -HOUR, 60_000, 24 * HOUR),
  ),
  /** Number of ticks at the same time. */
  claimers: fc.integer({ min: 1, max: 3 }),
  /** True if the runs under way end before the tick. */
  runsEnd: fc.boolean(),
});

const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'America/Havana'];

const scenario = fc.record({
  id: routineIds,
  schedule: fc.constantFrom(
    '* * * * *',
    '*/7 * * * *',
    '30 2 * * *',
    '0 9-17 * * 1-5',
    '@daily',
    '@hourly',
    '59 23 L * *',
  ),
  timezone: fc.constantFrom(...ZONES),
  misfire: fc.constantFrom('run_once' as const, 'skip' as const),
  overlap: fc.constantFrom('skip' as const, 'allow' as const),
  start: instantsBetween(new Date('2026-02-20T00:00:00Z'), new Date('2028-03-05T00:00:00Z'), ZONES),
  ticks: fc.array(tickAfter, { minLength: 1, maxLength: 8 }),
  /** Hours until the window begins, hours for which it lasts, and skipped days, counted from the start. */
  startsIn: fc.option(fc.integer({ min: -5, max: 60 })),
  lasts: fc.option(fc.integer({ min: 1, max: 200 })),
  skipped: fc.uniqueArray(fc.integer({ min: -1, max: 6 }), { maxLength: 3 }),
  jitterSeconds: fc.constantFrom(0, 29, 900, 12 * 3_600),
});

test('whenever ticks come, the rows account for every occurrence of the schedule exactly once', async ({
  database,
  clock,
  claim,
}) => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ start, ticks, startsIn, lasts, skipped, ...rest }) => {
      const startsAt = startsIn === null ? null : new Date(start.getTime() + startsIn * HOUR);
      const endsAt = lasts === null ? null : new Date((startsAt ?? start).getTime() + lasts * HOUR);
      const skipDates = skipped.map((days) => new Date(start.getTime() + days * 24 * HOUR).toISOString().slice(0, 10));
      const fields = { ...rest, startsAt, endsAt, skipDates };
      await removeAll(database);
      await clock.set(start);
      const { id } = await plantRoutine(database, { ...fields, nextRunAt: null });
      await setNextTimes(database, [{ id, next: nextTimeFrom(fields, start) }]);
      let now = start.getTime();
      let latest = now;
      for (const { ms, claimers, runsEnd } of ticks) {
        now += ms;
        latest = Math.max(latest, now);
        await clock.set(new Date(now));
        if (runsEnd) {
          await changeRuns(database, ifAny({ state: 'queued' }), { state: 'succeeded' });
        }
        await Promise.all(Array.from({ length: claimers }, () => claim()));
      }
      const record = await occurrencesOf(database, id);
      const after = withoutJitter(fields, start);
      const until = withoutJitter(fields, new Date(latest));
      const faults = accountingFaults(record, { ...fields, after, until });
      expect(faults).toEqual([]);
    }),
    { numRuns: sized(60) * TIMES },
  );
});
