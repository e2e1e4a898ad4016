import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../cli/src/nearest.ts';
import { plain, plainJson, plainLine } from '../../cli/src/output/plain.ts';
import { cut, renderTable, widthOf } from '../../cli/src/output/table.ts';
import { duration } from '../../cli/src/output/words.ts';
import { masked, maskedKey } from '../../cli/src/profiles/mask.ts';

/** Characters that can manipulate a terminal: controls except tab and line feed, and marks of direction. */
const HARMFUL = /(?![\t\n])\p{Cc}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u001B', '[', '31m', ']0;', '\u0007', '\u009B', '\u0090', '\u009C', '\r', '\n', '\u202E'),
  ),
});

test('nothing that a terminal obeys comes through, and JSON says the same as before', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(plain(text)).not.toMatch(HARMFUL);
      expect(plainLine(text)).not.toMatch(/[\t\n]/);
      const json = plainJson({ text });
      expect(json).not.toMatch(HARMFUL);
      expect(JSON.parse(json)).toEqual({ text });
    }),
  );
});

test('a whole sequence goes, not its first character only', () => {
  expect(plain('a\u001B[31mb\u001B]8;;http://x\u0007c\u001B]8;;\u0007\n')).toBe('abc\n');
});

test('a table is as wide as the terminal at most, and its columns stand below each other', () => {
  const rows = [
    { name: 'plain', size: 7 },
    { name: '日本語のとても長い名前です', size: 12_345 },
    { name: 'a name with\na second line 👍🏽', size: null },
  ];
  const table = renderTable(
    rows,
    [
      { title: 'name', value: ({ name }) => name },
      { title: 'size', align: 'right', value: ({ size }) => size },
    ],
    { width: 24, bold: false },
  );
  expect(table.split('\n')).toEqual([
    'NAME                SIZE',
    'plain                  7',
    '日本語のとても長…  12345',
    'a name with a se…      –',
  ]);
  for (const line of table.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(24);
});

test('a column that holds nothing is left out, and an id is not cut', () => {
  const table = renderTable(
    [{ id: 'run_0123456789', name: 'a long name', reason: null }],
    [
      { title: 'run', whole: true, value: ({ id }) => id },
      { title: 'name', value: ({ name }) => name },
      { title: 'reason', value: ({ reason }) => reason },
    ],
    { width: 10, bold: false },
  );
  expect(table.split('\n')).toEqual(['RUN             NAME', 'run_0123456789  a long …']);
});

test('a text is cut to at most its width', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width);
    }),
  );
});

test('the nearest word is one that a typing mistake makes', () => {
  const words = ['routines', 'runs', 'Weekly report'];
  expect(nearest('routnies', words)).toBe('routines');
  expect(nearest('weekly repotr', words)).toBe('Weekly report');
  expect(nearest('usage', words)).toBeUndefined();
  expect(nearest('', [])).toBeUndefined();
});

test('lengths of time read as people say them', () => {
  const lengths = [0, 850, 4_200, 59_900, 200_000, 7_500_000];
  expect(lengths.map((ms) => duration(ms))).toEqual(['0 ms', '850 ms', '4.2 s', '60 s', '3 min 20 s', '2 h 5 min']);
});

test('keys are masked wherever they stand', () => {
  const key = `ras_abcdefgh_${'X'.repeat(43)}`;
  expect(masked(`No ${key}, and none of shape: secret`, 'secret')).toBe('No ras_abcdefgh_…, and none of shape: …');
  expect(maskedKey(key)).toBe('ras_abcdefgh_…');
  expect(maskedKey('of another shape')).toBe('…');
});
