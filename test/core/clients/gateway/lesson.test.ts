import { expect, test } from 'vitest';
import { schemaKey } from '#core/clients/gateway/lesson.ts';
import { Refusal } from '#core/clients/gateway/refusal.ts';

/** Names and texts that tenants choose. Each of them is also the name of a field. */
const SCHEMA = {
  type: 'object',
  properties: {
    max_tokens: { type: 'array' },
    stream: { type: 'string', description: 'Whether parallel_tool_calls and stream_options were set.' },
    stream_options: { enum: ['response_format', 'max_completion_tokens'] },
    response_format: { $ref: '#/$defs/parallel_tool_calls' },
  },
};
const SENT = {
  model: 'm',
  max_tokens: 9_000,
  stream: true,
  stream_options: { include_usage: true },
  parallel_tool_calls: false,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Say that it supports at most 1 output tokens, as system messages are not supported.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'reasoning', arguments: '{"max_tokens":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'The maximum context length is 100 tokens, says the page.' },
  ],
  tools: [
    { type: 'function', function: { name: 'stream', description: 'Streams.', parameters: SCHEMA } },
    { type: 'function', function: { name: 'stream_options', parameters: { type: 'object' } } },
  ],
};
const { tools: _, parallel_tool_calls: __, ...WITHOUT_TOOLS } = SENT;
const FORMAT = { type: 'json_schema', json_schema: { name: 'result', strict: false, schema: SCHEMA } };
const TYPED = { ...WITHOUT_TOOLS, response_format: FORMAT };

function lessonOf(body: object, sent: object = SENT, status = 400) {
  return new Refusal({ status, body: JSON.stringify(body) }, { body: JSON.stringify(sent), apiKey: undefined }).lesson;
}

test.for([
  ["Invalid schema for function 'x': In context=('properties', 'max_tokens'), array schema missing items."],
  ["Invalid schema for function 'x': In context=(\\'properties\\', \\'max_tokens\\'), unsupported."],
  ['tools.0.function.parameters.properties.max_tokens: unsupported array without items'],
  ['Unsupported property stream_options in function stream_options'],
  ['Invalid function name "stream": not supported'],
  ['Unknown keyword in `stream_options`'],
  ["input_value='Say that it supports at most 1 output tokens, as sys…', input_type=str"],
  ['Rejected by the filter: "as system messages are not supported."'],
  ['Rejected by the filter: The maximum context length is 100 tokens, says the page.'],
  ['Bad description: Whether parallel_tool_calls and stream_options were set.'],
  ["enum value 'max_completion_tokens' is unsupported"],
] as const)('%s teaches nothing, since the request itself says so', ([message]) => {
  expect(lessonOf({ error: { message, param: null } }).learned).toBeUndefined();
});

test.for([
  ['a place in the tools', { message: "Unsupported: 'max_tokens'", param: 'tools[0].function.parameters' }],
  ['a place in the messages', { message: 'Unsupported content', param: 'messages[3].content' }],
] as const)('%s outweighs the words beside it', ([, error]) => {
  expect(lessonOf({ error }).learned).toBeUndefined();
});

test.for([
  [{ error: { message: 'Unsupported value.', param: 'max_tokens' } }, { outputLimit: 'max_completion_tokens' }],
  [{ detail: [{ loc: ['body', 'stream_options', 'include_usage'], msg: 'Not permitted' }] }, { streamUsage: false }],
  [{ error: { message: 'Not supported.', param: 'parallel_tool_calls' } }, { parallelToolCallsField: false }],
  [{ error: { message: 'Verify to use this.', param: 'stream' } }, { streaming: false }],
  [{ error: { message: 'Streaming is not supported by this model.' } }, { streaming: false }],
] as const)('%j teaches %j beside names that are its own', ([body, learned]) => {
  expect(lessonOf(body).learned).toEqual(learned);
});

test.for([
  ['at most 255 completion tokens', undefined, undefined],
  ['at most 256 completion tokens', { maxOutputTokens: 256 }, 256],
  ['at most 9000 completion tokens', undefined, undefined],
  ['at most 99999999999999999999 completion tokens', undefined, undefined],
  ['at most 0 output tokens', undefined, undefined],
  ['`max_tokens` must be less than or equal to `8192`', { maxOutputTokens: 8_192 }, 8_192],
  ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', { maxOutputTokens: 8_192 }, 8_192],
  ['The maximum context length is 1023 tokens, and 500 in the messages', undefined, 523],
  ['The maximum context length is 1024 tokens, and 500 in the messages', { contextTokens: 1_024 }, 524],
] as const)('a limit in "%s" teaches %j', ([message, learned, left]) => {
  const sent = { model: 'm', max_tokens: 9_000, messages: [{ role: 'user', content: 'Hello.' }] };
  expect(lessonOf({ error: { message } }, sent)).toMatchObject({ learned, outputLeft: left });
});

test('a number that a server dislikes is no reason to send it under another name', () => {
  const sent = { model: 'm', max_tokens: 9_000, messages: [] };
  expect(
    lessonOf({ error: { message: 'max_tokens must be even', param: 'max_tokens' } }, sent).learned,
  ).toBeUndefined();
});

test.for([
  ["Invalid schema for response_format 'result': In context=(), 'required' is required to be supplied.", true],
  ["'additionalProperties' of response_format is not supported to be true", true],
  ['The schema in response_format is too complex', true],
  ['response_format: keyword "$ref" is not supported', true],
  ["Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", false],
  ['This model does not support response format `json_schema`.', false],
  ['Unknown name "response_format": Cannot find field.', false],
] as const)('%s is about its content: %j', ([message, isContent]) => {
  const learned = isContent ? { [schemaKey(FORMAT)]: false } : { structuredOutputs: false };
  expect(lessonOf({ error: { message, param: 'response_format' } }, TYPED).learned).toEqual(learned);
  expect(schemaKey({ ...FORMAT, json_schema: { schema: { type: 'object' } } })).not.toBe(schemaKey(FORMAT));
});

test('a tool with a parameter named like the window hides no refusal for its size', () => {
  const parameters = { type: 'object', properties: { context: {}, input: {}, length: {}, tokens: {} } };
  const tools = [{ type: 'function', function: { name: 'prompt', parameters } }];
  const sent = { model: 'm', max_tokens: 9_000, messages: [{ role: 'user', content: 'Hello.' }], tools };
  const message = "This model's maximum context length is 8192 tokens, and your request has 9000 input tokens.";
  expect(lessonOf({ error: { message } }, sent).isOverflow).toBe(true);
});
