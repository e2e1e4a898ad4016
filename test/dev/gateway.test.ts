import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { MannerName } from '#dev/fakes/gateway/manners.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';

// Tests of the product would still pass if the gateway refused less, so its refusals and holds have these tests.
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: console.error, manner: 'openai' });
});
beforeEach(() => {
  gateway.control.reset();
  gateway.control.manner('fixture');
});
afterAll(() => gateway.stop());

const SYSTEM = { role: 'system', content: 'You are careful.' };
const USER = { role: 'user', content: 'Look it up' };
const SPOKEN = { role: 'assistant', content: 'Well.' };
const LOOK_UP = {
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object', properties: {} } },
};
const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const FORMAT = { type: 'json_schema', json_schema: { name: 'result', schema } };
const FORMED = { model: 'fixture/analyst', response_format: FORMAT };
const THINKER = { model: 'fixture/thinker' };

/** Makes an assistant turn that calls `look_up`, and the results that answer it. */
function exchange(ids: string[], answered = ids, further: object = {}): object[] {
  const calls = ids.map((id) => ({
    id,
    ...LOOK_UP,
    function: { name: 'look_up', arguments: '{}' },
  }));
  return [
    { role: 'assistant', content: null, tool_calls: calls, ...further },
    ...answered.map((id) => ({ role: 'tool', tool_call_id: id, content: 'found' })),
  ];
}

function post(body: object | string, headers = HEADERS): Promise<Response> {
  const whole = { model: 'fixture/writer-small', messages: [SYSTEM, USER] };
  return fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify({ ...whole, ...body }),
  });
}

const HEADERS: Record<string, string> = {
  authorization: 'Bearer sk-secret',
  'content-type': 'application/json',
};

const Answer = z.object({
  choices: z.tuple([
    z.object({
      message: z.looseObject({
        content: z.string().nullish(),
        tool_calls: z.array(z.unknown()).optional(),
      }),
    }),
  ]),
  usage: z.looseObject({ prompt_tokens: z.int() }),
});

async function answer(body: object) {
  const { choices, usage } = Answer.parse(await (await post(body)).json());
  return { ...choices[0].message, usage };
}

function named(name: string, parameters: object = {}): object {
  const tool = { name, parameters: { type: 'object', ...parameters } };
  return { tools: [{ type: 'function', function: tool }] };
}

const tools = [LOOK_UP];
const call = 'abcdefgh1';
const history = [USER, ...exchange([call])];
const lateUser = { messages: [...history, USER] };
const thinking = { messages: [USER, ...exchange([call], [call], { reasoning_content: 'so' })] };
const unanswered = { messages: [USER, ...exchange([call, 'second'], [call])] };
const long = {
  model: 'fixture/unpriced',
  messages: [{ role: 'user', content: 'x'.repeat(40_000) }],
};
const usage = { stream_options: { include_usage: true } };
const broken = {
  messages: JSON.parse(JSON.stringify(history).replace('"arguments":"{}"', '"arguments":"{"')),
};

test('production has no fixture gateway', async () => {
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  try {
    await expect(startGateway({ port: 0, log: () => {} })).rejects.toThrow('production');
  } finally {
    process.env['NODE_ENV'] = before;
  }
});

test('a request without a key or without JSON is refused', async () => {
  expect((await post({}, {})).status).toBe(401);
  expect((await post('{')).status).toBe(400);
});

test('the record keeps bodies and headers, but of a key only that there was one', async () => {
  await post({ messages: [USER] });
  const record = await (await fetch(new URL('/_requests', gateway.url))).text();
  expect(JSON.parse(record)).toMatchObject({
    total: 1,
    requests: [{ headers: { authorization: 'present' }, body: { messages: [USER] } }],
  });
  expect(record).not.toContain('sk-secret');
});

test.for<[MannerName, string, object, number, string]>([
  ['fixture', 'no message', { messages: [] }, 400, '"param":"messages","code":"empty_array"'],
  ['fixture', 'an empty text', { messages: [{ ...USER, content: ' ' }] }, 400, 'got null'],
  ['fixture', 'a late system message', { messages: [USER, SYSTEM] }, 400, 'at the beginning'],
  ['fixture', 'a stray result', { messages: [USER, ...exchange([call], ['x'])] }, 400, "role 'tool'"],
  ['fixture', 'a user after a user', { messages: [SYSTEM, USER, USER] }, 400, 'must alternate'],
  ['fixture', 'an assistant first', { messages: [SPOKEN, USER] }, 400, 'must alternate'],
  ['fixture', 'two turns in one', { messages: [USER, SPOKEN, SPOKEN] }, 400, 'must alternate'],
  ['fixture', 'a last word of its own', { messages: [USER, SPOKEN] }, 400, 'Expected last role'],
  ['fixture', 'a call without result', unanswered, 400, 'response messages: second'],
  ['fixture', 'a call id twice', { messages: [USER, ...exchange([call, call])] }, 400, 'Duplicate'],
  ['fixture', 'a tool twice', { tools: [LOOK_UP, LOOK_UP] }, 400, 'must be unique'],
  ['fixture', 'a tool with a dot', named('a.b'), 400, '"param":"tools[0].function.name"'],
  ['fixture', 'a long name', named('a'.repeat(65)), 400, '"code":"string_above_max_length"'],
  ['openai', 'an unknown field', { cache: 1 }, 400, 'Unrecognized request argument supplied: cache'],
  ['openai', 'reasoning in a message', thinking, 400, '"code":"unknown_parameter"'],
  ['openai', 'stream options alone', usage, 400, '"param":"stream_options","code":null'],
  ['openai', 'a choice of no tools', { tool_choice: 'auto' }, 400, '"param":"tool_choice"'],
  ['openai', 'no object', named('a', { type: 'array' }), 400, '"invalid_function_parameters"'],
  ['openai', 'an unknown model', { model: 'gone' }, 404, '"code":"model_not_found"'],
  ['openai', 'a large output', { max_tokens: 60_000 }, 400, 'at most 16384 completion tokens'],
  ['openai', 'a long prompt', long, 400, '"code":"context_length_exceeded"'],
  ['gpt-5', 'max_tokens', { max_tokens: 9 }, 400, '"max_tokens","code":"unsupported_parameter"'],
  ['gpt-5', 'a temperature', { temperature: 0 }, 400, 'Only the default (1) value is supported'],
  ['gpt-5-unverified', 'streaming', { stream: true }, 400, '"param":"stream"'],
  ['llama.cpp', 'a long prompt', long, 400, '"n_prompt_tokens":10000,"n_ctx":8000'],
  ['llama.cpp', 'broken arguments', broken, 500, 'Failed to parse tool call arguments as JSON'],
  ['gemma', 'a user after a result', lateUser, 400, 'Conversation roles must alternate'],
  ['gemma', 'a user twice', { messages: [USER, USER] }, 400, 'Error: Jinja Exception: Conv'],
  ['ministral', 'a user twice', { messages: [USER, USER] }, 500, 'user and assistant roles'],
  ['ministral', 'a user after a result', lateUser, 500, '"type":"server_error"'],
  ['vllm', 'a long prompt', long, 400, '{"object":"error","message":"This model'],
  ['vllm', 'much output', { max_tokens: 200_000 }, 400, '"type":"BadRequestError","param":null'],
  ['vllm-without-tools', 'tools', { tools }, 400, 'requires --enable-auto-tool-choice'],
  ['mistral', 'a newer field', { max_completion_tokens: 5 }, 422, '"body","max_completion_tokens"'],
  ['mistral', 'reasoning', thinking, 422, '"messages",1,"assistant","reasoning_content"'],
  ['mistral', 'a user after a result', lateUser, 400, "Unexpected role 'user' after role 'tool'"],
  ['mistral', 'a foreign id', { messages: [USER, ...exchange(['a_1'])] }, 400, '"code":"3280"'],
  ['mistral-without-usage', 'usage', { ...usage, stream: true }, 422, '"include_usage"]'],
  ['groq', 'reasoning_content', thinking, 400, "property 'reasoning_content' is unsupported"],
  ['groq', 'a schema', { response_format: FORMAT }, 400, '"param":"response_format"}'],
  ['groq', 'both', { ...FORMED, tools }, 400, 'cannot be combined with tool/function calling'],
  ['openrouter', 'a call without result', unanswered, 400, '"metadata":{"raw":"{\\"error'],
  ['openrouter', 'much output', { max_tokens: 200_000 }, 400, '"provider_name":null'],
  ['openrouter', 'lost details', { ...THINKER, messages: history }, 400, 'thought_signature'],
  ['ollama', 'broken arguments', broken, 400, '"message":"invalid tool call arguments"'],
  ['gemini', '$schema', named('a', { $schema: 'x' }), 400, '[{"error":{"code":400'],
  ['gemini', 'both', { ...FORMED, tools }, 400, "mime type: 'application/json' is unsupported"],
  ['gemini', 'a lost signature', { ...THINKER, messages: history }, 400, 'thought_signature'],
  ['deepseek', 'lost reasoning', { ...THINKER, messages: history }, 400, 'must be passed back'],
  ['litellm', 'calls without tools', { messages: history }, 400, 'expects the `tools=` param'],
  ['lm-studio', 'a user after a result', lateUser, 400, '{"error":"Error rendering prompt'],
])('%s refuses %s', async ([manner, , body, status, words]) => {
  gateway.control.manner(manner);
  const response = await post(body);
  expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)]);
});

test.for<[MannerName, object]>([
  ['llama.cpp', { reasoning_content: expect.any(String) }],
  ['groq', { reasoning: expect.any(String) }],
  ['openrouter', { reasoning_details: [{ type: 'reasoning.text' }] }],
  ['gemini', { extra_content: { google: { thought_signature: expect.any(String) } } }],
  ['lm-studio', { content: expect.stringMatching(/^<think>\n.+\n<\/think>\n\n# Look/) }],
])('in the manner of %s reasoning has a field of its own', async ([manner, expected]) => {
  gateway.control.manner(manner);
  expect(await answer({ model: 'fixture/thinker' })).toMatchObject(expected);
});

test.for<MannerName>(['llama.cpp', 'vllm'])('%s makes no call under a schema', async (manner) => {
  gateway.control.manner(manner);
  const formed = await answer({ tools, response_format: FORMAT });
  expect([formed.content, formed.tool_calls]).toEqual(['{"n":1}', undefined]);
  expect((await answer({ tools })).tool_calls).toHaveLength(1);
});

test('a prompt is cut off where Ollama’s window ends', async () => {
  gateway.control.manner('ollama');
  const { usage, content } = await answer({
    messages: [{ role: 'user', content: `Begin ${'x'.repeat(40_000)} end` }],
  });
  expect(usage.prompt_tokens).toBeLessThanOrEqual(4_096);
  expect(content).not.toContain('Begin');
});
