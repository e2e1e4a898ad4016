import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretBox } from '#lib/secrets/index.ts';

const box = createSecretBox({ current: randomBytes(32).toString('base64') });
const PLACE = { table: 'connections', column: 'secret', row: 'con_1' };

test('a sealed text opens in its own place only: not in another row, column or table', () => {
  const sealed = box.seal('sk-1', PLACE);
  expect(box.open(sealed, PLACE)).toBe('sk-1');
  for (const moved of [{ table: 'routines' }, { column: 'query' }, { row: 'con_2' }]) {
    expect(() => box.open(sealed, { ...PLACE, ...moved })).toThrow();
  }
});

test('a sealed text with any one character changed does not open', () => {
  // The sealed text has thirty bytes, so that every bit of its base64 form has a meaning.
  const sealed = box.seal('sk', PLACE);
  const start = sealed.lastIndexOf('.') + 1;
  for (let at = start; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
    expect(() => box.open(changed, PLACE)).toThrow();
  }
});

test('the same text is sealed differently each time', () => {
  expect(box.seal('sk-1', PLACE)).not.toBe(box.seal('sk-1', PLACE));
});
