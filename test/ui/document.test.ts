import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentOf, type DocumentNode } from '../../ui/src/format/document.ts';
import { piecesOf } from '../../ui/src/format/pieces.ts';

test('headings of a text stand below those of its page, and make its outline', () => {
  const read = documentOf('## Prices\n\nOne two.\n\n### Tea *and* rice\n\n## Next\n');
  expect(read).toMatchObject({
    kind: 'document',
    words: 7,
    outline: [
      { id: 'part-1', text: 'Prices', depth: 0 },
      { id: 'part-2', text: 'Tea and rice', depth: 1 },
      { id: 'part-3', text: 'Next', depth: 0 },
    ],
    nodes: [{ tag: 'h3' }, { tag: 'p' }, { tag: 'h4' }, { tag: 'h3' }],
  });
});

test('tasks, tables, code and footnotes are read as GitHub reads them', () => {
  const nodes = flat('- [x] done\n- [ ] **not** *yet*\n\n|a|b|\n|--|--:|\n|1|2|\n\nSo.[^1]\n\n[^1]: Why.');
  const of = (tag: string) => nodes.filter((node) => node.tag === tag);
  expect(of('input').map(({ checked }) => checked)).toEqual([true, false]);
  expect(of('td').map(({ align }) => align)).toEqual([undefined, 'right']);
  expect(of('a').map(({ href, label }) => [href, label])).toEqual([
    ['#note-fn-1', 'Footnote 1'],
    ['#note-fnref-1', 'Back to reference 1'],
  ]);
  // Two words of a list have one space between them.
  expect(textOf(nodes.find(({ tag }) => tag === 'ul'))).toContain('not yet');
});

test('links lead to the web and to mail only, images are named, and markup is text', () => {
  const text = [
    '[a](javascript:alert(1)) [b](data:text/html,x) [c](/p/prj_1/settings) [d](//evil.example)',
    '[e](https://example.com/x) [f](mailto:ada@example.com) [g](vbscript:x) [h](#page)',
    '![a graph](https://example.com/pixel.png) <img src=x onerror=alert(1)><script>alert(1)</script>',
  ].join('\n');
  const nodes = flat(text);
  const links = nodes.flatMap(({ tag, href }) => (tag === 'a' ? [href ?? null] : []));
  expect(links.filter((href) => href !== null)).toEqual(['https://example.com/x', 'mailto:ada@example.com']);
  expect(nodes.map(({ tag }) => tag)).not.toContain('img');
  const read = documentOf(text);
  expect(JSON.stringify(read)).toContain('<script>');
  expect(JSON.stringify(read)).not.toContain('pixel.png');
});

test('characters that are not seen or turn text round are drawn by their names', () => {
  const tags = Array.from('hi').map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
  const read = JSON.stringify(documentOf(`Pay \u202Eevil\u202C now${tags.join('')}, \`\u2066x\u2069\`.`));
  expect(read).toContain('U+202Eevil');
  expect(read).toContain('U+E0068U+E0069');
  expect(read).toContain('U+2066x');
  expect(read).not.toMatch(/[\u202E\u2066\u{E0068}]/u);
});

const NESTED_LISTS = Array.from({ length: 70 }, (_, level) => `${' '.repeat(2 * level)}- a`).join('\n');

test.each([
  ['1 MB of nested quotes', '>'.repeat(1_000_000), 'longer than 600,000 characters'],
  ['nested quotes', '> '.repeat(50_000), 'nests quotes or lists more than 40 deep'],
  ['nested lists on one line', `${'- '.repeat(5_000)}a`, 'nests quotes or lists'],
  ['a table of 10,000 columns', `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}`, '200 columns'],
  ['more lines than a page holds', '***\n'.repeat(40_001), 'more than 40,000 parts'],
  ['lists of seventy levels', NESTED_LISTS, 'nested too deep'],
])('%s is not formatted, for a reason', (_, text, reason) => {
  expect(documentOf(text)).toEqual({ kind: 'plain', reason: expect.stringContaining(reason) });
});

test('a line across the page does not become a list of fifty levels', () => {
  expect(documentOf(`a\n\n${'- '.repeat(50)}\n\nb`).kind).toBe('document');
});

test('no text is too odd to be read', () => {
  const piece = fc.constantFrom(
    '# ',
    '> ',
    '- ',
    '1. ',
    '[^1]',
    '[^1]: ',
    '|',
    '\n',
    '\n\n',
    '`',
    '```',
    '*',
    '**',
    '~~',
    '<a href=x>',
    '</a>',
    '![',
    '](',
    ')',
    '[',
    ']',
    '&#x202e;',
    '\t',
    'word ',
    '---',
    '\0',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const read = documentOf(pieces.join(''));
      expect(read.kind).toBe('document');
      if (read.kind === 'document') expect(sizesOf(read.nodes)).toEqual([]);
    }),
  );
});

test('the pieces of a text make up the text, and none splits a character', () => {
  const line = fc.constantFrom('a'.repeat(30_000), '\u{1F600}'.repeat(25_001), '', 'b');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const text = lines.join('\n');
      const pieces = piecesOf(text);
      expect(pieces.join('').replaceAll('\n', '')).toBe(text.replaceAll('\n', ''));
      expect(pieces.every((piece) => piece.isWellFormed() && piece.length <= 40_000)).toBe(true);
    }),
  );
});

type Element = Exclude<DocumentNode, string>;

function flat(text: string): Element[] {
  const read = documentOf(text);
  if (read.kind === 'plain') throw new Error(read.reason);
  return read.nodes.flatMap(within);
}

function within(node: DocumentNode): Element[] {
  return typeof node === 'string' ? [] : [node, ...node.children.flatMap(within)];
}

function textOf(node: DocumentNode | undefined): string {
  if (node === undefined || typeof node === 'string') return node ?? '';
  return node.children.map(textOf).join('');
}

/** Returns the elements whose `size` is not the number of elements inside them. */
function sizesOf(nodes: readonly DocumentNode[]): Element[] {
  return nodes.flatMap(within).filter((node) => node.size !== within(node).length);
}
