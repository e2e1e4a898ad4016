import { expect, test } from 'vitest';
import { MAX_ATTEMPTS, deliveryRetryMs } from '#core/delivery/webhooks/delivery.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
function middle() {
  return 0.5;
}

test('the waits are 1 and 5 and 30 minutes, then 2, 5, 10, 14, 20 and 24 hours, and then it is over', () => {
  const waits = Array.from({ length: 10 }, (_, index) => deliveryRetryMs(index + 1, 0, middle));
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

test('a wait varies, by at most ten percent', () => {
  expect(deliveryRetryMs(1, 0, () => 0)).toBe(54_000);
  expect(deliveryRetryMs(1, 0, () => 0.999_999)).toBe(66_000);
  const seen = Array.from({ length: 50 }, () => deliveryRetryMs(3)!);
  expect(new Set(seen).size).toBeGreaterThan(10);
  for (const wait of seen) {
    expect(wait).toBeGreaterThanOrEqual(27 * MINUTE);
    expect(wait).toBeLessThanOrEqual(33 * MINUTE);
  }
});

test('Retry-After lengthens a wait, never shortens it, never beyond 24 hours, and never adds an attempt', () => {
  expect(deliveryRetryMs(1, 10 * MINUTE, middle)).toBe(10 * MINUTE);
  expect(deliveryRetryMs(2, 1_000, middle)).toBe(5 * MINUTE);
  expect(deliveryRetryMs(1, 400 * HOUR, middle)).toBe(24 * HOUR);
  expect(deliveryRetryMs(10, HOUR, middle)).toBeUndefined();
});
