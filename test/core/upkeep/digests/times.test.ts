import { expect, test } from 'vitest';
import { nextDigest } from '#core/upkeep/digests/settings.ts';

const DAILY = {
  frequency: 'daily',
  weekday: 'monday',
  hour: 8,
  timezone: 'Europe/Berlin',
} as const;

/** Returns the next digests after an instant, each computed from the previous one. */
function following(times: Parameters<typeof nextDigest>[0], after: string, count: number) {
  const found: string[] = [];
  let last: string | null = null;
  let instant = new Date(after);
  while (found.length < count) {
    instant = nextDigest(times, instant, last);
    last = instant.toLocaleDateString('sv-SE', { timeZone: times.timezone });
    found.push(instant.toISOString());
  }
  return found;
}

test('a digest comes at its hour on the clock of the zone, before and after the clock changes', () => {
  expect(following(DAILY, '2026-03-27T12:00:00Z', 3)).toEqual([
    '2026-03-28T07:00:00.000Z',
    '2026-03-29T06:00:00.000Z',
    '2026-03-30T06:00:00.000Z',
  ]);
  expect(following(DAILY, '2026-10-23T12:00:00Z', 3)).toEqual([
    '2026-10-24T06:00:00.000Z',
    '2026-10-25T07:00:00.000Z',
    '2026-10-26T07:00:00.000Z',
  ]);
});

test('an hour that the clock skips is made up for at once, and one that it shows twice counts once', () => {
  const atTwo = { ...DAILY, hour: 2 };
  expect(following(atTwo, '2026-03-28T12:00:00Z', 2)).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z']);
  expect(following(atTwo, '2026-10-24T12:00:00Z', 2)).toEqual(['2026-10-25T00:00:00.000Z', '2026-10-26T01:00:00.000Z']);
  // On this island, a clock change skips or repeats half an hour.
  const island = { ...atTwo, timezone: 'Australia/Lord_Howe' };
  expect(following(island, '2026-10-03T00:00:00Z', 2)).toEqual([
    '2026-10-03T15:30:00.000Z',
    '2026-10-04T15:00:00.000Z',
  ]);
});

test('a weekly digest keeps to its day, also in a zone in which that has another date', () => {
  const weekly = { ...DAILY, frequency: 'weekly', weekday: 'sunday' } as const;
  const kiritimati = { ...weekly, timezone: 'Pacific/Kiritimati' };
  expect(following(weekly, '2026-11-25T12:00:00Z', 2)).toEqual([
    '2026-11-29T07:00:00.000Z',
    '2026-12-06T07:00:00.000Z',
  ]);
  expect(following(kiritimati, '2026-11-25T12:00:00Z', 1)).toEqual(['2026-11-28T18:00:00.000Z']);
});

test('no change of hour or zone makes a second digest on a date', () => {
  const after = new Date('2026-11-25T07:00:00Z');
  const next = (times: object) => nextDigest({ ...DAILY, ...times }, after, '2026-11-25').toISOString();
  expect(next({ hour: 20 })).toBe('2026-11-26T19:00:00.000Z');
  expect(next({ timezone: 'America/New_York' })).toBe('2026-11-26T13:00:00.000Z');
  expect(next({ timezone: 'Asia/Tokyo' })).toBe('2026-11-25T23:00:00.000Z');
  expect(next({ frequency: 'weekly', weekday: 'wednesday' })).toBe('2026-12-02T07:00:00.000Z');
});
