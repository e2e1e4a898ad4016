import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordDiff, type LinePair } from '../../ui/src/format/word-diff.ts';

test('words that differ are marked, and the lines make the two texts', () => {
  expect(wordDiff('Tea is 3 €.\nSalt is 1 €.', 'Tea is 4 €.\nSalt is 1 €.')).toMatchObject([
    {
      before: [{ text: 'Tea is ' }, { text: '3', differs: true }, { text: ' €.' }],
      after: [{ text: 'Tea is ' }, { text: '4', differs: true }, { text: ' €.' }],
    },
    { same: true },
  ]);
  const word = fc.constantFrom('a', 'b', ' ', '\n', '.', 'é', '\u{1F600}', '  ', '\r');
  const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const pairs = wordDiff(before, after);
      expect(sideOf(pairs, 'before')).toBe(before);
      expect(sideOf(pairs, 'after')).toBe(after);
      const marked = pairs.some(({ same }) => !same);
      expect(marked).toBe(before !== after);
    }),
  );
});

test('two long texts that have nothing in common are shown side by side', () => {
  const long = (word: string) => Array.from({ length: 900 }, (_, n) => `${word} ${n}`).join('\n');
  const pairs = wordDiff(long('old'), long('new'));
  expect(pairs).toHaveLength(900);
  expect(sideOf(pairs, 'after')).toBe(long('new'));
});

function sideOf(pairs: readonly LinePair[], side: 'before' | 'after'): string {
  return pairs
    .flatMap((pair) => {
      const stretches = pair[side];
      return stretches === null ? [] : [stretches.map(({ text }) => text).join('')];
    })
    .join('\n');
}
