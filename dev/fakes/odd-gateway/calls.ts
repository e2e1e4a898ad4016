import {
  chunk,
  completion,
  DONE,
  ends,
  fails,
  piece,
  REPORT,
  stream,
  succeeds,
  USAGE,
  type OddAnswer,
  type OddCase,
} from './case.ts';

const FIRST = { operation: 'sum', values: [1, 2] };
const SECOND = { operation: 'sum', values: [3, 4] };
const NAME = 'calculate';
const [A, B] = [JSON.stringify(FIRST), JSON.stringify(SECOND)];

/** Makes the case of a server that streams both calls in these pieces, and then a report. */
function bothCalls(name: string, ...calls: object[]): OddCase {
  return called(name, stream(...calls.map(piece), chunk({}, 'tool_calls'), USAGE, DONE), [FIRST, SECOND]);
}

function called(name: string, answer: OddAnswer, calls: readonly unknown[]): OddCase {
  const answers = [answer, ends('stop')];
  return { name, tools: true, answers, expected: succeeds(REPORT, { calls }) };
}

/** Makes the case of a model that writes its call as text in each answer. */
function isWritten(name: string, text: string): OddCase {
  const warnings = ['call_as_text', 'call_as_text'];
  const expected = fails('model_wrote_call', 'call of calculate as text', {
    result: text,
    warnings,
    calls: [],
    failureClass: 'routine',
  });
  return { name: `a call is written as text: ${name}`, tools: true, answers: [ends('stop', text)], expected };
}

function isNoCall(name: string, text: string): OddCase {
  return {
    name: `a report is no call: ${name}`,
    tools: true,
    answers: [ends('stop', text)],
    expected: succeeds(text, { calls: [] }),
  };
}

const DSML = `<｜DSML｜function_calls>\n<｜DSML｜invoke name="${NAME}">\n<｜DSML｜parameter name="operation" string="true">sum</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`;

/** Calls as servers stream them, and calls that servers send as text. */
export const CALLS: readonly OddCase[] = [
  bothCalls(
    'calls have ids and the index 0',
    { index: 0, id: 'a', function: { name: NAME, arguments: A } },
    { index: 0, id: 'b', function: { name: NAME, arguments: B } },
  ),
  bothCalls(
    'calls have the index 0 and no ids',
    { index: 0, function: { name: NAME, arguments: A } },
    { index: 0, function: { name: NAME, arguments: B } },
  ),
  bothCalls(
    'pieces have ids and no index',
    { id: 'a', function: { name: NAME, arguments: A.slice(0, 9) } },
    { id: 'b', function: { name: NAME, arguments: B.slice(0, 9) } },
    { id: 'a', function: { arguments: A.slice(9) } },
    { id: 'b', function: { arguments: B.slice(9) } },
  ),
  bothCalls(
    'the index of a known id changes',
    { index: 0, id: 'a', function: { name: NAME, arguments: A.slice(0, 9) } },
    { index: 3, id: 'a', function: { arguments: A.slice(9) } },
    { index: 1, id: 'b', function: { name: NAME, arguments: B } },
  ),
  bothCalls(
    'the id of a call changes with each piece',
    { index: 0, id: 'a', function: { name: NAME, arguments: A.slice(0, 9) } },
    { index: 0, id: 'x', function: { arguments: A.slice(9) } },
    { index: 1, id: 'b', function: { name: NAME, arguments: B.slice(0, 20) } },
    { index: 1, id: 'y', function: { arguments: B.slice(20) } },
  ),
  bothCalls(
    'pieces repeat id and name',
    { index: 0, id: 'a', function: { name: NAME, arguments: A.slice(0, 9) } },
    { index: 0, id: 'a', function: { name: NAME, arguments: A.slice(9) } },
    { index: 0, id: 'a', function: { name: NAME, arguments: '' } },
    { index: 1, id: 'b', function: { name: NAME, arguments: B } },
    { index: 1, id: 'b', function: { name: NAME, arguments: B } },
  ),
  bothCalls(
    'pieces have neither index nor id',
    { function: { name: NAME, arguments: '' } },
    { function: { arguments: A.slice(0, 12) } },
    { function: { arguments: A.slice(12) } },
    { function: { name: NAME, arguments: B } },
  ),
  bothCalls(
    'arguments are streamed as objects',
    { index: 0, id: 'a', function: { name: NAME, arguments: FIRST } },
    { function: { name: NAME, arguments: SECOND } },
  ),
  called(
    'arguments are objects in a body',
    completion({ content: null, tool_calls: [{ id: 'a', function: { name: NAME, arguments: FIRST } }] }, 'tool_calls'),
    [FIRST],
  ),
  called(
    'a body has the one call of old',
    completion({ function_call: { name: NAME, arguments: A } }, 'function_call'),
    [FIRST],
  ),
  called(
    'a call ends with the reason stop',
    stream(piece({ index: 0, id: 'a', function: { name: NAME, arguments: A } }), chunk({}, 'stop'), DONE),
    [FIRST],
  ),
  called(
    'a call ends with the word of Anthropic',
    stream(piece({ index: 0, id: 'a', function: { name: NAME, arguments: A } }), chunk({}, 'tool_use'), DONE),
    [FIRST],
  ),
  called(
    'arguments are a list',
    stream(piece({ index: 0, id: 'a', function: { name: NAME, arguments: `[${A}]` } }), chunk({}, 'tool_calls'), DONE),
    [[FIRST]],
  ),
  called(
    'arguments are null',
    stream(piece({ index: 0, id: 'a', function: { name: NAME, arguments: 'null' } }), chunk({}, 'tool_calls'), DONE),
    [null],
  ),
  isWritten('the tags of Hermes', `<tool_call>\n{"name": "${NAME}", "arguments": ${A}}\n</tool_call>`),
  isWritten('DSML', DSML),
  isWritten('DSML with other bars, behind a sentence', `Let me see. ${DSML.replaceAll('｜', '|')}`),
  isWritten(
    'a channel of gpt-oss',
    `<|channel|>commentary to=functions.${NAME} <|constrain|>json<|message|>${A}<|call|>`,
  ),
  isWritten('a recipient of gpt-oss without its marks', `commentary to=functions.${NAME} json${A}`),
  isWritten('JSON behind a sentence', `I will add them up first.\n\n{"name": "${NAME}", "parameters": ${A}}`),
  isWritten(
    'JSON in a fence behind a sentence',
    `I will add them up.\n\`\`\`json\n{"tool": "${NAME}", "arguments": ${A}}\n\`\`\``,
  ),
  isWritten('JSON with the arguments first', `{"arguments": ${A}, "name": "${NAME}"}`),
  isWritten(
    'the list of calls as JSON',
    `{"tool_calls":[{"type":"function","function":{"name":"${NAME}","arguments":${A}}}]}`,
  ),
  isWritten('the brackets of Mistral', `[TOOL_CALLS]${NAME}${A}`),
  isWritten('the tags of Claude', `<function_calls>\n<invoke name="${NAME}">\n</invoke>\n</function_calls>`),
  isWritten(
    'the tags of Qwen',
    `<tool_call>\n<function=${NAME}>\n<parameter=operation>sum</parameter>\n</function>\n</tool_call>`,
  ),
  isWritten('the fence of Gemini', `\`\`\`tool_code\nprint(default_api.${NAME}(operation="sum"))\n\`\`\``),
  isWritten('the tokens of Gemma', `<|tool_call>call:${NAME}{operation:sum}<tool_call|>`),
  {
    name: 'a call that was written as text is made when the model is told',
    tools: true,
    answers: [
      ends('stop', DSML),
      stream(piece({ index: 0, id: 'a', function: { name: NAME, arguments: A } }), chunk({}, 'tool_calls'), DONE),
      ends('stop'),
    ],
    expected: succeeds(REPORT, { calls: [FIRST], warnings: ['call_as_text'] }),
  },
  isNoCall('it speaks of a tool', `With ${NAME} the sum is 3; no <tool_call> was needed.`),
  isNoCall(
    'it quotes a call in code',
    `The log has this line:\n\`\`\`\n<tool_call>{"name":"${NAME}"}</tool_call>\n\`\`\`\nIt was not made.`,
  ),
  isNoCall('it ends with other JSON', `The numbers:\n{"name": "total", "input": {"a": 1}, "by": "${NAME}"}`),
];
