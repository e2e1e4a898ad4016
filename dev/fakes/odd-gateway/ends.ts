import {
  body,
  chunk,
  COUNTED,
  completion,
  DONE,
  ends,
  event,
  fails,
  failsAfterAll,
  HALF,
  piece,
  REPORT,
  says,
  stream,
  succeeds,
  USAGE,
  type OddCase,
} from './case.ts';

const CALL = { id: 'call1', function: { name: 'calculate', arguments: '{"operation":"sum","values":[1,2]}' } };
const TRUNCATED = 'The model stopped at its output limit';
const WITHHELD = 'The provider withheld the answer';

function isGood(reason: string): OddCase {
  const expected = succeeds(REPORT, { finish: reason });
  return { name: `the reason ${reason} is a good end`, answers: [ends(reason)], expected };
}

function isCut(reason: string): OddCase {
  const expected = fails('output_truncated', TRUNCATED, { result: HALF, finish: reason });
  return { name: `the reason ${reason} means cut`, answers: [ends(reason, HALF)], expected };
}

function isWithheld(reason: string): OddCase {
  const expected = fails('content_filtered', WITHHELD, { finish: reason });
  return { name: `the reason ${reason} means withheld`, answers: [ends(reason, HALF)], expected };
}

function isBroken(reason: string): OddCase {
  const words = `The model provider ended its response with "${reason}".`;
  const expected = failsAfterAll('model_error', words, { finish: reason });
  return { name: `the reason ${reason} means broken off`, answers: [ends(reason, HALF)], expected };
}

/** Answers with the finish reasons of servers, in their own spelling, and without one. */
export const ENDS: readonly OddCase[] = [
  ...['stop', 'STOP', 'eos', 'end_turn', 'endTurn', 'stop_sequence', 'FinishReason.STOP'].map(isGood),
  ...['length', 'max_tokens', 'MAX_TOKENS', 'FINISH_REASON_MAX_TOKENS', 'model_length', 'max_output_tokens'].map(isCut),
  ...['model_context_window_exceeded', 'context_length_exceeded', 'maxTokens'].map(isCut),
  ...['content_filter', 'SAFETY', 'recitation', 'refusal', 'sensitive', 'BLOCKLIST', 'PROHIBITED_CONTENT'].map(
    isWithheld,
  ),
  ...['SPII', 'content-filtered', 'guardrail_intervened'].map(isWithheld),
  ...['cancelled', 'timeout', 'network_error', 'insufficient_system_resource', 'MALFORMED_FUNCTION_CALL'].map(isBroken),
  ...['error', 'context_canceled', 'abort', 'OTHER', 'half_done'].map(isBroken),
  {
    name: 'a reason for tool calls comes without a call',
    answers: [ends('tool_calls', HALF)],
    tools: true,
    expected: failsAfterAll('model_error', 'ended its response for tool calls ("tool_calls") without sending one', {
      finish: 'tool_calls',
    }),
  },
  {
    name: 'a reason that is no text counts as unknown',
    answers: [ends({ code: 7 }, HALF)],
    expected: failsAfterAll('model_error', 'ended its response with "{"code":7}"'),
  },
  {
    name: 'a bad reason stands although a good one follows',
    answers: [stream(says(HALF), chunk({}, 'content_filter'), chunk({}, 'stop'), USAGE, DONE)],
    expected: fails('content_filtered', WITHHELD, { finish: 'content_filter' }),
  },
  {
    name: 'the host behind a router says that it has cut the answer',
    answers: [
      stream(
        says(HALF),
        event({ choices: [{ delta: {}, finish_reason: 'stop', native_finish_reason: 'MAX_TOKENS' }] }),
        DONE,
      ),
    ],
    expected: fails('output_truncated', TRUNCATED, { finish: 'MAX_TOKENS' }),
  },
  {
    name: 'reasons that are empty or the text "null" come before the end',
    answers: [stream(says('The report:', ''), says(REPORT.slice(11), 'null'), chunk({}, 'stop'), DONE)],
    expected: succeeds(),
  },
  {
    name: 'a refusal comes in a field of its own',
    answers: [
      stream(chunk({ refusal: 'I cannot help ' }), chunk({ refusal: 'with that.' }), chunk({}, 'stop'), USAGE, DONE),
    ],
    expected: fails('content_filtered', WITHHELD, { result: 'I cannot help with that.', finish: 'refusal' }),
  },
  {
    name: 'a model known to give reasons gives none once',
    answers: [stream(says(HALF), USAGE, DONE)],
    expected: failsAfterAll('model_unreachable', 'without a finish reason', { finish: null }),
  },
  {
    name: 'a server that gives no reasons ends with its usage',
    modelId: 'fixture/free',
    answers: [stream(says(REPORT), USAGE, DONE)],
    expected: succeeds(REPORT, { finish: 'none' }),
  },
  {
    name: 'a server that was seen to give no reasons need not state usage',
    modelId: 'fixture/unpriced',
    tools: true,
    answers: [stream(piece(CALL), USAGE, DONE), stream(says(REPORT), DONE)],
    expected: succeeds(REPORT, { finish: 'none', calls: [{ operation: 'sum', values: [1, 2] }] }),
  },
  {
    name: 'neither reason nor usage comes from a server that is not known',
    modelId: 'fixture/unpriced-long',
    answers: [stream(says(HALF), DONE)],
    expected: failsAfterAll('model_unreachable', 'without a finish reason'),
  },
  {
    name: 'a body without a reason and usage',
    modelId: 'fixture/unpriced-long',
    answers: [completion({ content: HALF }, null, {})],
    expected: failsAfterAll('model_unreachable', 'without a finish reason'),
  },
  {
    name: 'nothing comes but comments and the end',
    answers: [stream(': PROCESSING\n\n', ': PROCESSING\n\n', DONE)],
    expected: failsAfterAll('model_unreachable', 'broke off the call'),
  },
  {
    name: 'nothing comes but a role and the end',
    modelId: 'fixture/free',
    answers: [stream(chunk({ role: 'assistant', content: '' }), DONE)],
    expected: failsAfterAll('model_unreachable', 'broke off the call'),
  },
  {
    name: 'a body without a choice',
    answers: [body({ id: 'c1', choices: [], ...COUNTED })],
    expected: failsAfterAll('model_unreachable', 'broke off the call'),
  },
  {
    name: 'a body without any byte',
    answers: [body('')],
    expected: failsAfterAll('model_unreachable', 'broke off the call'),
  },
  {
    name: 'a stream without any byte',
    answers: [stream()],
    expected: failsAfterAll('model_unreachable', 'broke off the call'),
  },
  {
    name: 'a model says nothing, and says that it has stopped',
    answers: [stream(chunk({ content: '' }, 'stop'), USAGE, DONE)],
    expected: fails('model_empty', 'without any text', { failureClass: 'routine', finish: 'stop' }),
  },
  {
    name: 'a stream ends in the middle, its connection in good form',
    answers: [stream(says(HALF), says(' all'))],
    expected: failsAfterAll('model_unreachable', 'broke off the call'),
  },
  {
    name: 'a stream breaks after a whole tool call and before its end',
    tools: true,
    answers: [{ parts: [piece({ index: 0, ...CALL })], ending: 'cut' }],
    expected: failsAfterAll('model_unreachable', 'broke off the call', { calls: [] }),
  },
  {
    name: 'a stream ends after a whole tool call without a reason',
    tools: true,
    answers: [stream(piece({ index: 0, ...CALL }))],
    expected: failsAfterAll('model_unreachable', 'broke off the call', { calls: [] }),
  },
  {
    name: 'a call is cut before its first argument',
    tools: true,
    answers: [
      stream(
        piece({ index: 0, id: 'call1', function: { name: 'calculate', arguments: '' } }),
        chunk({}, 'MAX_TOKENS'),
        DONE,
      ),
    ],
    expected: fails('output_truncated', TRUNCATED),
  },
];
