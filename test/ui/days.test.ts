import { afterEach, expect, test, vi } from 'vitest';
import { addDays, dayStart } from '../../ui/src/format/days.ts';

afterEach(() => vi.unstubAllEnvs());

test('a day ends at midnight, also where the clocks change and it has 23 or 25 hours', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  const hoursOf = (day: string) => {
    const start = dayStart(day)!;
    return (addDays(start, 1).getTime() - start.getTime()) / 3_600_000;
  };
  expect(['2026-03-28', '2026-03-29', '2026-10-25'].map(hoursOf)).toEqual([24, 23, 25]);
});

test('a text that names no day is none', () => {
  expect([dayStart(undefined), dayStart('soon')]).toEqual([undefined, undefined]);
});
