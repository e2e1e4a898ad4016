import { chunk, DONE, ends, fails, REPORT, says, stream, succeeds, USAGE, type OddCase } from './case.ts';

/** Makes the case of a streamed text that holds thinking, cut within its tags: the thinking must be taken out. */
function isTaken(name: string, text: string, thinking: string): OddCase {
  const pieces = text.match(/[\s\S]{1,5}/g) ?? [];
  const answer = stream(...pieces.map((each) => says(each)), chunk({}, 'stop'), USAGE, DONE);
  return { name: `thinking is taken out: ${name}`, answers: [answer], expected: succeeds(REPORT, { thinking }) };
}

function isKept(name: string, text: string): OddCase {
  return { name: `a report keeps ${name}`, answers: [ends('stop', text)], expected: succeeds(text) };
}

const CHANNELS = `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>${REPORT}<|return|>`;

/** Forms in which models write their thinking into the text, and reports that only mention such forms. */
export const THOUGHTS: readonly OddCase[] = [
  isTaken('<think>', `<think>\nHm.\n</think>\n\n${REPORT}`, '\nHm.\n'),
  isTaken('capitals', `<THINK>Hm.</Think>${REPORT}`, 'Hm.'),
  isTaken('[THINK]', `[THINK]Hm.[/THINK]${REPORT}`, 'Hm.'),
  isTaken('<thought>', `\n<thought>Hm.</thought>\n${REPORT}`, 'Hm.'),
  isTaken('<reasoning>', `<reasoning>Hm.</reasoning>${REPORT}`, 'Hm.'),
  isTaken('<seed:think>', `<seed:think>Hm.</seed:think>${REPORT}`, 'Hm.'),
  isTaken('the signs of Kimi', `◁think▷Hm.◁/think▷${REPORT}`, 'Hm.'),
  isTaken('channels of gpt-oss', CHANNELS, 'Hm.'),
  isTaken('channels of gpt-oss without their marks', `analysisHm.assistantfinal${REPORT}`, 'Hm.'),
  isTaken('the channel of Gemma', `<|channel>thought\nHm.<channel|>${REPORT}`, '\nHm.'),
  isTaken('two blocks at the start', `<think>Hm.</think>\n<think>Ah.</think>\n${REPORT}`, 'Hm.\nAh.'),
  isTaken(
    'a tag that the thinking quotes',
    `<think>I end with \`</think>\`.</think>${REPORT}`,
    'I end with `</think>`.',
  ),
  isTaken('a block in a block', `<think>Hm.<think>Ah.</think></think>${REPORT}`, 'Hm.<think>Ah.</think>'),
  {
    name: 'thinking is taken out: a second block further down',
    answers: [ends('stop', '<think>Hm.</think>The report.\n<think>Ah.</think>\nSales rose.')],
    expected: succeeds('The report.\nSales rose.', { thinking: 'Hm.\nAh.' }),
  },
  isKept(
    'a closing tag at the end of a line',
    `First finding: all well.\nThe answer stops at </think>\nSecond finding: none.`,
  ),
  isKept('tags on lines of their own', 'First finding: it writes\n<think>\nand then\n</think>\nSecond finding: none.'),
  isKept('tags in a fence', '```\n<think>Hm.</think>\n```\nSecond finding: none.'),
  isKept('tags in a sentence', 'A report on <think> and </think> in one line.'),
  {
    name: 'a report keeps tags in code behind thinking of its own',
    answers: [ends('stop', '<think>Hm.</think>It said:\n```\n<think>Ah.</think>\n```\nand `<think>`.')],
    expected: succeeds('It said:\n```\n<think>Ah.</think>\n```\nand `<think>`.', { thinking: 'Hm.' }),
  },
  {
    name: 'thinking is cut before it ends',
    answers: [ends('length', '<think>Hm, and so on')],
    expected: fails('output_truncated', 'output limit', { result: null, thinking: '<think>Hm, and so on' }),
  },
  {
    name: 'a block follows reasoning in a field of its own',
    answers: [
      stream(chunk({ reasoning_content: 'Hm.' }), says(`<think>Ah.</think>${REPORT}`), chunk({}, 'stop'), DONE),
    ],
    expected: succeeds(REPORT, { thinking: 'Ah.' }),
  },
];
