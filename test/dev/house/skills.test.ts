import { expect, test } from 'vitest';
import { faultsOfSkill, SECTIONS } from '#dev/scripts/house/skill-rules.ts';
import { readText } from '#dev/scripts/house/skill-text.ts';
import type { Rule } from '../../../bench/skills/gates.ts';

const RULES: Rule[] = [
  {
    what: 'visits',
    test: 'percent_change',
    confidence: 0.99,
    lines: 1,
    unit: 'visits',
    sizes: { 30: 300 },
    against: 1,
    rises: false,
  },
];

const GOOD: Record<string, string> = {
  'Three rules that always apply':
    '1. Print "not measured" instead of a guess.\n2. Keep the order of rows.\n3. Report a change only if its interval excludes zero.',
  Job: 'Check the pages. Leave links to `seo-audit`.',
  Inputs: '- **Pages**: If they are missing, say so.',
  'Work budget': 'Fetch at most 40 pages, five at a time.',
  Method:
    '1. **Window.** Compare whole weeks.\n2. If a page fails, read it again.\n3. Missed clicks = impressions x rate.',
  Numbers:
    '| Value | Meaning | Source |\n|---|---|---|\n| 30 % from 300 visits | change of visits worth acting on | gates |',
  Law: '| Place | Rule | Since | Verified on |\n|---|---|---|---|\n| EU | Label deep fakes | 2 August 2026 | 2026-11-26 |',
  'Compare with the previous result': '- **It is there.** A change of 30 % is worth acting on.',
  'Common mistakes': '- A guess in place of a count.',
  Output:
    '1. **Pages**, at most 7: `Page | State`.\n\nScales: `State` is OK, Watch or Broken.\n\nIf `seo-audit` also runs in this routine: print Pages only; leave the order to it.',
  'Sample page': `All figures are invented: copy none of them.\n\n\`\`\`text\nPage | State\n/desks | OK\n\n${'Line\n'.repeat(8)}Last line\n\`\`\``,
  State: '```state page-check\nas-of: day\npages: none\n```',
  'Confidence and sources': 'Cite each page.',
  'Where a person decides': 'A person publishes.',
  'Related skills': '- `seo-audit` - ranks the fixes.\n- `rank-watch` - follows positions.',
};

function faults(change: Readonly<Record<string, string>> = {}, gone: readonly string[] = []): string[] {
  const sections = SECTIONS.map((title) => `### ${title}\n${change[title] ?? GOOD[title]}`);
  const text = `${change['Opening'] ?? 'You check pages.'}\n\n${sections.join('\n\n')}`;
  return faultsOfSkill(readText('page-check', text), { rules: RULES, gone: new Set(gone) });
}

test('a text that keeps the rules has no fault', () => {
  expect(faults()).toEqual([]);
});

const LONG = `Print ${'a word and '.repeat(10)}the end.`;

test.each([
  ['a sentence over 30 words', 'Job', LONG, 'Job: 33 words'],
  ['a long sentence in a table', 'Law', GOOD['Law']!.replace('Label deep fakes', LONG), '33 words'],
  ['a semicolon outside a list', 'Inputs', '- Read the page; write the row.', 'a semicolon'],
  ['two colons', 'Job', 'Do this: read pages: all of them.', 'two colons'],
  ['a line of Method without a verb', 'Method', '1. **Window.** Whole weeks only.', 'no verb'],
  ['an order with its object first', 'Method', '1. Landing with its range.', 'no verb'],
  ['a banned word', 'Job', 'Name an owner for each act.', '"each act" is banned'],
  ['a banned name for another skill', 'Output', `${GOOD['Output']}\nPrint it beside \`seo-audit\`.`, 'is banned'],
  ['more than 40 numbers', 'Inputs', `- ${'Read 3 of 4 pages. '.repeat(20)}`, '42 numbers'],
  ['a second cap for a list', 'Method', '1. Propose at most nine pages.', 'a second cap'],
  ['a cap behind its noun', 'Work budget', 'Print nine pages at most.', 'a second cap'],
  ['a cap for rows of no named list', 'Method', '1. Cap the run at ten suggestions.', 'a second cap'],
  ['a claim about the catalogue', 'Job', 'Carts belong to no skill of this set.', 'no skill of this set'],
  ['a register at the end', 'Inputs', '- Read the register printed at the end.', 'registers stand'],
  [
    'a percentage without a rule',
    'Compare with the previous result',
    '- A move of 15 % is reported as changed.',
    '15 decides',
  ],
  ['a factor without a rule', 'Compare with the previous result', '- Report what doubled.', '100 decides'],
  ['a number of the table without a rule', 'Numbers', GOOD['Numbers']!.replace('30 %', '25 %'), '25 decides'],
  ['a table of numbers without sources', 'Numbers', '| Value | Meaning |\n|---|---|\n| 3 | pages |', 'has no table'],
  ['law without a day', 'Law', GOOD['Law']!.replace('2026-11-26', 'lately'), 'neither a day'],
  ['two rules instead of three', 'Three rules that always apply', '1. Print it.\n2. Keep it.', 'not a list of three'],
  ['a related skill named twice', 'Related skills', '- `seo-audit` - a.\n- `seo-audit` - b.', 'twice'],
  ['more than the block in State', 'State', `Last of all.\n\n${GOOD['State']}`, 'more than its block'],
  ['no word on other skills', 'Output', '1. **Pages**: `Page | State`.', 'does not say'],
  [
    'a sample without the columns',
    'Sample page',
    GOOD['Sample page']!.replace('Page | State', 'Page | Fate'),
    'shows none',
  ],
  [
    'a sample with a cell too few',
    'Sample page',
    GOOD['Sample page']!.replace('/desks | OK', '/desks | OK | 4'),
    '3 cells',
  ],
  ['a sample off its scale', 'Sample page', GOOD['Sample page']!.replace('/desks | OK', '/desks | 4'), 'is no value'],
  ['a scale of no column', 'Output', GOOD['Output']!.replace('`State` is', '`Effort` is'), 'belongs to no column'],
])('%s is found', (_, section, text, fault) => {
  expect(faults({ [section]: text }).join('\n')).toContain(fault);
});

test('a section under a heading of another level is found', () => {
  const text = readText('page-check', '## Job\nCheck pages.\n\n### Inputs\nNone.');
  expect(text.titles).toEqual(['## Job', 'Inputs']);
});

test('sections out of order, and skills that are gone, are found', () => {
  const text = readText('page-check', '### Job\nCheck pages.\n\n### Inputs\nNone.');
  const found = faultsOfSkill(text, { rules: [], gone: new Set() });
  expect(found[0]).toContain('the sections are Job, Inputs; they should be Three rules');
  expect(faults({}, ['rank-watch']).join('\n')).toContain('`rank-watch`, which was folded');
});

test.each([
  ['a list that a colon opens', 'Job', 'Print three things: pages; links; owners.'],
  ['a cap of another list', 'Method', '1. Propose at most nine links.'],
  ['the limit of a change that is an order', 'Method', '1. Move a target by 15 % at most.'],
  ['an example', 'Method', '1. Example: 30 % of 40 starts changed to 12 %.'],
  ['days, steps and ids', 'Inputs', `- ${'Read B1 on 2026-11-26 in step 3. '.repeat(30)}`],
])('%s is no fault', (_, section, text) => {
  expect(faults({ [section]: text })).toEqual([]);
});
