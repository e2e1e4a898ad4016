import { assert, constantFrom, date, integer, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { deliveryRetryMs } from '#core/delivery/webhooks/delivery.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';

const HOUR = 3_600_000;
const maxMs = 24 * HOUR;

test('Retry-After is read as seconds or as any form of an HTTP date', () => {
  const now = new Date('1994-11-06T08:49:00Z');
  expect(parseRetryAfter('120', { now, maxMs })).toBe(120_000);
  expect(parseRetryAfter(' 0 ', { now, maxMs })).toBe(0);
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', { now, maxMs })).toBe(37_000);
  expect(parseRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', { now, maxMs })).toBe(37_000);
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:00:00 GMT', { now, maxMs })).toBe(0);
});

test('a wait is never longer than its reader allows', () => {
  const now = new Date('1994-11-06T08:49:00Z');
  for (const value of ['86401', '9'.repeat(400), 'Tue, 08 Nov 1994 08:49:37 GMT']) {
    expect(parseRetryAfter(value, { now, maxMs })).toBe(maxMs);
  }
});

test('any other value of Retry-After means no wait', () => {
  const now = new Date();
  for (const value of [null, undefined, '', 'soon', '-5', '1.5', '1e9', '2030-01-01', 'Sunday', '0x10']) {
    expect(parseRetryAfter(value, { now, maxMs })).toBeUndefined();
  }
  const values = oneof(
    string(),
    string({ unit: constantFrom('0', '9', '.', '-', ' ', 'e') }),
    date().map((each) => (Number.isNaN(each.getTime()) ? 'Sun, Invalid Date' : each.toUTCString())),
    constantFrom('Sun', 'Mon, 99 Nov 1994', 'Sat, 01 Jan 99999 00:00:00 GMT', 'Infinity', 'NaN'),
  );
  assert(
    property(values, integer({ min: 1, max: 9 }), (value, attempt) => {
      const wait = deliveryRetryMs(attempt, parseRetryAfter(value, { now, maxMs }));
      return wait !== undefined && wait >= 54_000 && wait <= 26.4 * HOUR;
    }),
  );
});
