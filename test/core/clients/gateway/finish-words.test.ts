import { expect, test } from 'vitest';
import { finishClass, finishWord, type FinishClass } from '#core/clients/gateway/finish-words.ts';

test.each<[FinishClass, readonly string[]]>([
  ['whole', ['stop', 'Stop', 'eos', 'EOS_TOKEN', 'end_turn', 'endTurn', 'stop-sequence', 'FINISH_REASON_STOP']],
  ['calls', ['tool_calls', 'tool-calls', 'toolUse', 'FUNCTION_CALL']],
  [
    'cut',
    ['length', 'max_tokens', 'maxTokens', 'MODEL_LENGTH', 'max_new_tokens', 'token_limit', 'context_window_exceeded'],
  ],
  [
    'withheld',
    ['content-filter', 'contentFilter', 'IMAGE_SAFETY', 'refusal', 'ERROR_TOXIC', 'LANGUAGE', 'content_blocked'],
  ],
  [
    'broken',
    ['error', 'TIMEOUT', 'timed_out', 'canceled', 'context_canceled', 'context_deadline_exceeded', 'net_error'],
  ],
  [
    'broken',
    ['insufficient_system_resource', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'service_unavailable'],
  ],
  // Words that only begin like a known word are unknown, and so are the names of fields that every object has.
  ['unknown', ['stopped', 'stops', 'done?', 'OTHER', 'constructor', '__proto__', 'FINISH_REASON_UNSPECIFIED']],
])('%s is what %j mean', (kind, words) => {
  for (const word of words) expect([word, finishClass(word)]).toEqual([word, kind]);
});

test.each([
  [null, undefined],
  [undefined, undefined],
  ['', undefined],
  [' null ', undefined],
  ['None', undefined],
  [3, '3'],
  [{ type: 'stop' }, '{"type":"stop"}'],
  ['a\u0000b\nc', 'a b c'],
  ['x'.repeat(100), 'x'.repeat(60)],
])('the reason %j is the word %j', (reason, word) => {
  expect(finishWord(reason)).toBe(word);
});
