import fc from 'fast-check';
import { TypeID } from 'typeid-js';
import { expect, test } from 'vitest';
import { firstIdAt, idPattern, newId } from '#lib/ids.ts';

/** Generates times up to the year 9999, the latest that a request can name. */
const milliseconds = fc.integer({ min: 0, max: 253_402_300_799_999 });
const randomBits = fc.bigInt({ min: 0n, max: (1n << 74n) - 1n });

/** Makes an id of this time (RFC 9562, section 5.7) with these random bits. */
function idAt(ms: number, random: bigint): string {
  const value =
    (BigInt(ms) << 80n) | (7n << 76n) | ((random >> 62n) << 64n) | (2n << 62n) | (random & ((1n << 62n) - 1n));
  const hex = value.toString(16).padStart(32, '0');
  const uuid = [0, 8, 12, 16, 20].map((at, part) => hex.slice(at, [8, 12, 16, 20, 32][part]));
  return TypeID.fromUUID('run', uuid.join('-')).toString();
}

test('of all ids made in a millisecond none sorts before its first, and all made earlier do', () => {
  fc.assert(
    fc.property(milliseconds, randomBits, randomBits, (ms, one, other) => {
      const first = firstIdAt('run', new Date(ms));
      expect(first <= idAt(ms, one)).toBe(true);
      if (ms > 0) expect(idAt(ms - 1, other) < first).toBe(true);
    }),
  );
});

test('the first id of a millisecond is itself one that could be made then', () => {
  fc.assert(
    fc.property(milliseconds, (ms) => {
      const first = firstIdAt('run', new Date(ms));
      expect(first).toMatch(idPattern('run'));
      expect(first).toBe(idAt(ms, 0n));
    }),
  );
});

test('ids of the service sort between the first id of now and the first of the next moment', () => {
  const before = firstIdAt('run', new Date());
  const ids = Array.from({ length: 1_000 }, () => newId('run'));
  const after = firstIdAt('run', new Date(Date.now() + 1));
  for (const id of ids) expect([before <= id, id < after]).toEqual([true, true]);
});

test('a time before 1970 has the first id of all, and a prefix is that of its resource', () => {
  expect(firstIdAt('run', new Date(-1))).toBe(firstIdAt('run', new Date(0)));
  expect(firstIdAt('run', new Date(0))).toBe(idAt(0, 0n));
  expect(firstIdAt('skill', new Date(0))).toMatch(idPattern('skill'));
});
