/** Writes a report of about this many words like a model, with every element of Markdown. */
export function longReport(words: number): string {
  const sentence = 'The page answers sooner than last week, and its pictures are smaller by a third. ';
  const parts = Math.ceil(words / (15 * 9));
  const body = Array.from(
    { length: parts },
    (_, index) => `## Part ${index + 1}\n\n${sentence.repeat(5)}\n\n${sentence.repeat(4)}`,
  );
  return [
    '# Site audit',
    'The slowest page is **/pricing**[^1], see [the report](https://example.com/report).',
    '- [x] Titles are unique\n- [ ] Two pages are gone: `/blog/launch`, `/team`',
    [
      '| Page | LCP | Change | Cause | Owner | Where it was measured | Next step |',
      '|---|--:|--:|---|---|---|---|',
      '| / | 1.8 s | −0.2 s | smaller hero image | web | Frankfurt and Dublin | none |',
      '| /pricing | 3.1 s | +0.9 s | a script of the chat | growth | Frankfurt | load it late |',
    ].join('\n'),
    `\`\`\`sh\ncurl -s https://example.com/${'a-long-path/'.repeat(20)} | wc -c\n\`\`\``,
    `A line without an end: ${'x'.repeat(300)}`,
    ...body,
    '[^1]: Measured from Frankfurt, in the median of nine loads.',
  ].join('\n\n');
}

const TAGS = Array.from('ignore the reader')
  .map((letter) => String.fromCodePoint(0xe00_00 + (letter.codePointAt(0) ?? 0)))
  .join('');

/** Results that must do no harm to a page, each with the text that the page shows. */
export const HOSTILE = [
  {
    name: 'script and addresses',
    text: [
      '<script>document.title = "owned"</script><img src=x onerror="document.title = 1">',
      '[run](javascript:document.write(1)) [page](data:text/html,<script>1</script>)',
      '![pixel](https://evil.example/pixel.png) [settings](/p/prj_1/settings)',
      '<style>body { display: none }</style>',
    ].join('\n\n'),
    sees: '<script>',
  },
  { name: 'nested quotes', text: '> '.repeat(100_000), sees: 'nests quotes or lists' },
  {
    name: 'a table of 10,000 columns',
    text: `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n|${'b|'.repeat(10_000)}`,
    sees: 'a table of more than 200 columns',
  },
  {
    name: 'unseen characters',
    text: `Pay \u202Eevil\u2066 now.${TAGS}\n\n${'\u0301'.repeat(500)}`,
    sees: 'U+202E',
  },
  { name: 'one word', text: 'w'.repeat(200_000), sees: /^w{50}/ },
  { name: 'emphasis without an end', text: '*a **b '.repeat(20_000), sees: /\*a \*\*b|too long/ },
] as const;
