import { afterEach, expect, test, vi } from 'vitest';
import { addDays, dayName, dayStart } from '../../ui/src/format/days.ts';
import { periodOf } from '../../ui/src/pages/calendar/period.ts';

afterEach(() => vi.unstubAllEnvs());

test('a day ends at midnight, also where the clocks change and it has 23 or 25 hours', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  const hoursOf = (day: string) => {
    const start = dayStart(day)!;
    return (addDays(start, 1).getTime() - start.getTime()) / 3_600_000;
  };
  expect(['2026-03-28', '2026-03-29', '2026-10-25'].map(hoursOf)).toEqual([24, 23, 25]);
});

test('a text that names no day is not a schedule', () => {
  expect([dayStart(undefined), dayStart('soon')]).toEqual([undefined, undefined]);
});

test('a month has the whole weeks that it touches, and its neighbours are months', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  const shown = (text: string) => {
    const { start, days, before, after } = periodOf('month', text);
    return [dayName(start), days, dayName(before), dayName(after)];
  };
  expect(shown('2027-02-15')).toEqual(['2027-02-01', 28, '2027-01-01', '2027-03-01']);
  expect(shown('2026-10-31')).toEqual(['2026-09-28', 35, '2026-09-01', '2026-11-01']);
  expect(shown('2026-08-31')).toEqual(['2026-07-27', 42, '2026-07-01', '2026-09-01']);
  const { start, days } = periodOf('week', 'soon', new Date(2026, 10, 26));
  expect([dayName(start), days]).toEqual(['2026-11-23', 7]);
});
