import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockDiff } from '../../ui/src/format/block-diff.ts';
import { blocksOf } from '../../ui/src/format/blocks.ts';
import { documentOf } from '../../ui/src/format/document.ts';
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

/** Writes a pair as a line, with removed words in brackets and new words in braces. */
function written({ before, after }: Pick<LinePair, 'before' | 'after'>): string {
  const of = (side: LinePair['before'], marks: string) =>
    side?.map(({ text, differs }) => (differs ? `${marks[0]}${text}${marks[1]}` : text)).join('') ?? '';
  const [old, fresh] = [of(before, '[]'), of(after, '{}')];
  return old === fresh ? old : `${old}→${fresh}`;
}

function compared(before: string, after: string): readonly string[] {
  const [old, fresh] = [documentOf(before), documentOf(after)];
  if (old.kind !== 'document' || fresh.kind !== 'document') throw new Error('not formatted');
  return blockDiff(blocksOf(old.nodes), blocksOf(fresh.nodes)).flatMap((pair) =>
    pair.look === 'table'
      ? pair.rows.map(({ sign, cells }) => `${sign} ${[...cells.values()].map(written).join(' / ')}`)
      : [`${pair.same ? '=' : '~'} ${pair.look} ${pair.depth}: ${written(pair)}`],
  );
}

test('formatted texts are compared without their marks: by line, by item and by cell', () => {
  const before = `# Prices\n\nTea is **dear**.\n\n1. one\n2. two\n   - inner\n\n> quoted\n\n\`\`\`\na  b\nc\n\`\`\`\n
| Shop | Price |\n|---|--:|\n| Ink | 5 |\n| Quill | 4 |`;
  const after = `# Prices\n\nTea is **cheap**.\n\n1. one\n2. three\n   - inner\n\n> quoted\n\n\`\`\`\na  b\nd\n\`\`\`\n
| Shop | Old | Price |\n|---|---|--:|\n| Quill | 4 | 3 |\n| Verso | | 7 |`;
  expect(compared(before, after)).toEqual([
    '= heading 0: Prices',
    '~ text 0: Tea is [dear].→Tea is {cheap}.',
    '= item 1: one',
    '~ item 1: [two]→{three}',
    '= item 2: inner',
    '= text 1: quoted',
    '= code 0: a  b',
    '~ code 0: [c]→{d}',
    '− [Ink]→ / [5]→',
    '~ Quill / →{4} / [4]→{3}',
    '+ →{Verso} / →{} / →{7}',
  ]);
});

test('rows are paired by their first cell, wherever they stand, and two equal texts have no difference', () => {
  const table = (...rows: string[]) => ['| id | n |', '|---|---|', ...rows.map((row) => `| ${row} |`)].join('\n');
  expect(compared(table('a | 1', 'b | 2', 'c | 3'), table('b | 9', 'c | 8'))).toEqual([
    '− [a]→ / [1]→',
    '~ b / [2]→{9}',
    '~ c / [3]→{8}',
  ]);
  const text = fc.array(fc.constantFrom('a', '|', '\n', '- ', '# ', '> ', '`', '**', '|---|---|', ' '), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(text, (parts) => {
      expect(compared(parts.join(''), parts.join('')).filter((line) => !line.startsWith('='))).toEqual([]);
    }),
  );
});
