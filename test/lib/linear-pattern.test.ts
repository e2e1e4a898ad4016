import { expect, test } from 'vitest';
import { compilePattern, matchesPattern, patternFault, sizeBound } from '#lib/linear-pattern.ts';

test.each([
  ['^## Findings', '## Findings\n- one', true],
  ['^## Findings', 'Text\n## Findings', false],
  ['(?i:error)', 'No ERROR today', true],
  ['\\p{Lu}{3}', 'abc ÄÖÜ', true],
  ['👍{2}', 'ok 👍👍', true],
  ['^$', '', true],
])('%j is looked for anywhere in a text', async (pattern, text, found) => {
  expect(patternFault(pattern)).toBeUndefined();
  expect(await matchesPattern('a project', pattern, text)).toBe(found);
});

test.each([
  ['no regular expression', '(', 'Invalid regular expression'],
  ['one with a lookahead', 'a(?=b)', 'cannot be matched in linear time'],
  ['one with a backreference', '(a)\\1', 'cannot be matched in linear time'],
  ['one with a count above 1,000', 'a{1001}', 'cannot be matched in linear time'],
  ['one whose counts multiply', `(?:${'a?'.repeat(200)}){900}`, 'too large'],
])('%s is refused with the reason', (_, pattern, why) => {
  expect(patternFault(pattern)).toContain(why);
});

test('the event loop goes on while a large pattern is looked for in a long text', async () => {
  const pattern = `${'(?:a|b|ab)?'.repeat(40)}c$`;
  expect(patternFault(pattern)).toBeUndefined();
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 5);
  try {
    expect(await matchesPattern('a project', pattern, 'ab'.repeat(200_000))).toBe(false);
  } finally {
    clearInterval(ticking);
  }
  expect(turns).toBeGreaterThan(2);
});

test.each([
  '',
  'abc',
  'a|b|c',
  '[a-z\\]]+x?',
  '\\d{4}-\\d{2}',
  '(?:a{10}){20}',
  '((ab){3}c){4,9}',
  'x{2,}y*',
  '(?<year>\\d{4})',
  '\\p{L}{3}\\{2',
  '(?:(?:a{5}b){5}c){5}',
  '[\\]{}]{7}',
  '(a?){50}',
  '\\u{1f600}{3}',
])('the size of %j is not underestimated by more than its ends', (pattern) => {
  expect(sizeBound(pattern) * 2 + 10).toBeGreaterThanOrEqual(compilePattern(pattern).programSize());
});
