import { expect, test } from 'vitest';
import { saidSoFar, withoutThinking } from '#core/clients/gateway/thinking.ts';

test.each([
  ['<think>\nWell.\n</think>\n\nThe report.', 'The report.', '\nWell.\n'],
  ['Well, then.\n</think>\n\nThe report.', 'Well, then.\n</think>\n\nThe report.', ''],
  ['<think>never ended', '', '<think>never ended'],
  ['The tag `</think>` ends thinking.', 'The tag `</think>` ends thinking.', ''],
  ['A report on <think> and </think> in one line.', 'A report on <think> and </think> in one line.', ''],
  ['<thinking class="x">Hm.</thinking>All.', 'All.', 'Hm.'],
  ['<|START_THINKING|>Hm.<|END_THINKING|>All.', 'All.', 'Hm.'],
  ['<think>Code:\n```py\npass\n</think>\nAll.', 'All.', 'Code:\n```py\npass\n'],
  ['<think>I use <think> here.</think>All.', 'All.', 'I use <think> here.'],
  [
    '<think>Hm.</think>The tag <think> opens, and </think> closes.',
    'The tag <think> opens, and </think> closes.',
    'Hm.',
  ],
])('of the text %j, %j remains', (content, text, thinking) => {
  expect(withoutThinking(content)).toEqual({ text, thinking });
});

test.each([
  ['Well, then.\n</think>\n\nThe report.', 'The report.', 'Well, then.\n'],
  ['Well, then.\n[/THINK]\nThe report.', 'The report.', 'Well, then.\n'],
])('where a response may begin inside its thinking, %j leaves %j', (content, text, thinking) => {
  expect(withoutThinking(content, { beginsInside: true })).toEqual({ text, thinking });
});

test.each([
  ['an opening tag', 'It writes\n<think>\nHm.\n</think>\nAll.'],
  ['a heading', '# Tags\n</think>\nAll.'],
  ['a fence', '```\n</think>\n```\nAll.'],
  ['a second closing tag', 'One\n</think>\ntwo\n</think>\nAll.'],
  ['its place within a line', 'The tag </think> within a line.'],
])('there too, %s shows that a closing tag is quoted', (_sign, text) => {
  expect(withoutThinking(text, { beginsInside: true })).toEqual({ text, thinking: '' });
});

test.each(['<think></think>', '<think><think></think>', '```\n', '<think> ', 'text. <think>'])(
  'a megabyte of %j is read in one pass, and its first block is taken out',
  (part) => {
    const { thinking } = withoutThinking(`<think>a</think>${part.repeat(1_000_000 / part.length)}`);
    expect(thinking.startsWith('a')).toBe(true);
  },
);

test.each([
  ['The rep', 'The rep'],
  ['<thi', ''],
  ['<think>\nWell, the', ''],
  ['<think>Well.</think>\n\nThe rep', 'The rep'],
  ['<think>Well.</thi', ''],
  ['The report.\n<think>Is that', 'The report.\n'],
  ['[THINK]Well', ''],
  ['<|channel|>analysis<|mess', ''],
  ['<|channel|>analysis<|message|>Well', ''],
  ['<|channel|>analysis<|message|>Well.<|end|><|start|>assistant<|chan', ''],
  ['<|channel|>analysis<|message|>Well.<|end|><|start|>assistant<|channel|>final<|message|>The rep', 'The rep'],
  ['analysisWell, the', ''],
  ['analysisWell.assistantfinalThe rep', 'The rep'],
  ['Analysis of the week', 'Analysis of the week'],
  ['| a | b <', '| a | b '],
])('of %j, which is not finished, %j is said', (content, text) => {
  expect(saidSoFar(content)).toBe(text);
});

test('a text that turns out to have begun inside thinking is replaced', () => {
  expect(saidSoFar('Well, then.', true)).toBe('Well, then.');
  expect(saidSoFar('Well, then.\n</think>\n\nThe rep', true)).toBe('The rep');
});
