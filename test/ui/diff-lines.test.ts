import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from '../../ui/src/format/diff-lines.ts';

const TEXT = fc
  .array(fc.constantFrom('', 'a', 'b', 'c', '\r', 'a\r', ' ', '\u2028', '__proto__'), {
    maxLength: 12,
  })
  .map((lines) => lines.join('\n'));

test('unchanged and removed parts make the old text, unchanged and added parts the new one', () => {
  fc.assert(
    fc.property(TEXT, TEXT, (before, after) => {
      const lines = diffLines(before, after);
      expect(textWithout('added', lines)).toBe(before);
      expect(textWithout('removed', lines)).toBe(after);
    }),
  );
});

test('no more is marked than the change', () => {
  expect(diffLines('one\ntwo\nthree', 'one\n2\nthree')).toEqual([
    { kind: 'same', text: 'one' },
    { kind: 'removed', text: 'two' },
    { kind: 'added', text: '2' },
    { kind: 'same', text: 'three' },
  ]);
  expect(diffLines('', 'one')).toEqual([{ kind: 'added', text: 'one' }]);
  expect(diffLines('', '')).toEqual([]);
});

test('texts that have nothing in common are shown one after the other', () => {
  const numbered = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}`).join('\n');
  const kinds = diffLines(numbered('old'), numbered('new')).map(({ kind }) => kind);
  expect(kinds.indexOf('added')).toBe(3_000);
  expect(kinds.lastIndexOf('removed')).toBe(2_999);
});

function textWithout(kind: string, lines: ReturnType<typeof diffLines>): string {
  return lines
    .filter((line) => line.kind !== kind)
    .map(({ text }) => text)
    .join('\n');
}
