import { assert, integer, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_ATTEMPTS, parseRetryAfter, retryDelayMs } from '#core/webhooks/retry.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const middle = () => 0.5;

test('the waits are 1 and 5 and 30 minutes, then 2, 5, 10, 14, 20 and 24 hours, and then it is over', () => {
  const waits = Array.from({ length: 10 }, (_, index) => retryDelayMs(index + 1, 0, middle));
  expect(waits).toEqual([
    MINUTE,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
    undefined,
  ]);
  expect(MAX_ATTEMPTS).toBe(10);
});

test('a wait varies by at most ten percent, and does vary', () => {
  expect(retryDelayMs(1, 0, () => 0)).toBe(54_000);
  expect(retryDelayMs(1, 0, () => 0.999_999)).toBe(66_000);
  const seen = Array.from({ length: 50 }, () => retryDelayMs(3)!);
  expect(new Set(seen).size).toBeGreaterThan(10);
  for (const wait of seen) {
    expect(wait).toBeGreaterThanOrEqual(27 * MINUTE);
    expect(wait).toBeLessThanOrEqual(33 * MINUTE);
  }
});

test('Retry-After lengthens a wait, never shortens it, never beyond 24 hours, and never adds an attempt', () => {
  expect(retryDelayMs(1, 10 * MINUTE, middle)).toBe(10 * MINUTE);
  expect(retryDelayMs(2, 1_000, middle)).toBe(5 * MINUTE);
  expect(retryDelayMs(1, 400 * HOUR, middle)).toBe(24 * HOUR);
  expect(retryDelayMs(10, HOUR, middle)).toBeUndefined();
});

test('Retry-After is read as seconds or as any form of an HTTP date', () => {
  const now = new Date('1994-11-06T08:49:00Z');
  expect(parseRetryAfter('120', now)).toBe(120_000);
  expect(parseRetryAfter(' 0 ', now)).toBe(0);
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now)).toBe(37_000);
  expect(parseRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', now)).toBe(37_000);
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:00:00 GMT', now)).toBe(0);
});

test('whatever else stands in Retry-After is no wait', () => {
  const now = new Date();
  for (const value of [null, '', 'soon', '-5', '1.5', '1e9', '2030-01-01', 'Sunday', '0x10']) {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  }
  assert(
    property(string(), integer({ min: 1, max: 9 }), (value, attempt) => {
      const wait = retryDelayMs(attempt, parseRetryAfter(value, now));
      return wait !== undefined && wait >= 54_000 && wait <= 26.4 * HOUR;
    }),
  );
});
