import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Refusal } from '#core/clients/gateway/refusal.ts';
import { gatewayFetch } from '#core/clients/gateway/request.ts';
import { GatewayFailure } from '#core/clients/gateway/index.ts';

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
// The model caller's agent has no timeout of its own; the deadline of the call limits it.
let agent: Agent;

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
// Each test has a new agent, so that no test gets a connection that another test's server closed.
beforeEach(() => {
  agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
});
afterEach(async () => {
  await agent.destroy();
  server.closeAllConnections();
});
afterAll(() => server.close());

const API_KEY = 'sk-very-secret-0123456789';

function call(
  signal: AbortSignal = new AbortController().signal,
  { body = '{}', silenceMs = 180_000 } = {},
): Promise<Response> {
  const send = gatewayFetch({ dispatcher: agent, apiKey: API_KEY, silenceMs });
  return send(url, { method: 'POST', headers: {}, body, signal });
}

async function failureOf(calling: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([calling]);
  return outcome.status === 'rejected' ? outcome.reason : 'no failure';
}

test('a character that is cut between two parts of the body is whole again', async () => {
  const bytes = Buffer.from('\u{1F600}');
  answer = async (_request, response) => {
    response.write(bytes.subarray(0, 2));
    await sleep(50);
    response.end(bytes.subarray(2));
  };
  expect(await (await call()).text()).toBe('\u{1F600}');
});

test('a response without a body is one, also where its status allows none', async () => {
  answer = (_request, response) => response.writeHead(204).end();
  const response = await call();
  expect([response.status, response.body]).toEqual([204, null]);
});

test('a redirect is a refusal and is not followed', async () => {
  let requests = 0;
  answer = (_request, response) => {
    requests += 1;
    response.writeHead(307, { Location: url }).end('elsewhere');
  };
  expect(await failureOf(call())).toMatchObject({ status: 307, words: 'elsewhere' });
  expect(requests).toBe(1);
});

test('a body without an end is refused at 16 MB and the connection closed, not to be tried again', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  let closed: Promise<unknown> = Promise.resolve();
  answer = async (_request, response) => {
    closed = once(response, 'close');
    while (!response.destroyed) {
      sent += chunk.length;
      if (!response.write(chunk)) {
        await Promise.race([once(response, 'drain'), closed]);
      }
    }
  };
  const failure = await failureOf(call());
  expect(failure).toBeInstanceOf(GatewayFailure);
  expect(failure).toMatchObject({ kind: 'malformed', details: { retryable: false } });
  await closed;
  // The buffers at both ends are added to the limit.
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});

test('a body of exactly 16 MB is taken', async () => {
  answer = (_request, response) => response.end(Buffer.alloc(16 * 1024 * 1024, 'x'));
  expect(await (await call()).text()).toHaveLength(16 * 1024 * 1024);
});

test('a body that falls silent ends with the deadline of the call, and may be tried again', async () => {
  const deadline = new AbortController();
  answer = async (_request, response) => {
    response.write('{"choices":');
    // The client runs in the same process, so each pause lets it read the bytes that have arrived.
    for (let turns = 0; turns < 30; turns += 1) await sleep(5);
    deadline.abort(new DOMException('The time is over.', 'TimeoutError'));
  };
  const failure = await failureOf(call(deadline.signal));
  expect(failure).toBeInstanceOf(GatewayFailure);
  expect(failure).toMatchObject({ kind: 'unreachable', details: { retryable: true } });
});

test('a body that breaks off may be tried again', async () => {
  answer = async (_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half');
    await sleep(50);
    response.destroy();
  };
  expect(await failureOf(call())).toMatchObject({
    kind: 'unreachable',
    details: { retryable: true },
    message: 'The model provider broke off the call.',
  });
});

test('headers may come late, as long as the deadline allows', async () => {
  answer = async (_request, response) => {
    await sleep(1_000);
    response.end('at last');
  };
  expect(await (await call()).text()).toBe('at last');
});

test('headers that never come end with the deadline of the call', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  answer = (request) => {
    closed = once(request.socket, 'close');
  };
  const failure = await failureOf(call(AbortSignal.timeout(300)));
  expect(failure).toMatchObject({ name: 'TimeoutError' });
  await closed;
});

interface Completion {
  readonly choices: readonly {
    readonly message: Readonly<Record<string, unknown>>;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object;
  readonly beyond: { readonly reasoning: object };
}

const STREAMED = JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Go on.' }] });

/** Streams these parts unchanged and returns the library's result. */
async function streamed(...parts: (string | Uint8Array)[]): Promise<Completion> {
  answer = async (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    for (const part of parts) {
      response.write(part);
      await sleep(2);
    }
    response.end();
  };
  return (await (await call(undefined, { body: STREAMED })).json()) as Completion;
}

function chunk(delta: object, finish: string | null = null, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', choices, ...more })}\n\n`;
}

const DONE = 'data: [DONE]\n\n';

test('a stream is collected, with comments, line ends of any kind and characters that are cut', async () => {
  const smile = Buffer.from(chunk({ content: '\u{1F600} done' }));
  const at = smile.indexOf(0xf0) + 2;
  const { choices, usage } = await streamed(
    ': PROCESSING\r\n\r\n',
    chunk({ role: 'assistant', content: 'Half ' }).replaceAll('\n', '\r\n'),
    smile.subarray(0, at),
    smile.subarray(at),
    chunk({}, 'stop'),
    `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: '12', completion_tokens: 3 } })}\n\n`,
    DONE,
  );
  expect(choices[0]).toMatchObject({
    message: { content: 'Half \u{1F600} done' },
    finish_reason: 'stop',
  });
  expect(usage).toEqual({ prompt_tokens: 12, completion_tokens: 3 });
});

test.each([
  {
    how: 'by index, in pieces',
    deltas: [
      [{ index: 0, id: 'a', function: { name: 'one', arguments: '' } }],
      [{ index: 1, id: 'b', function: { name: 'two', arguments: '{"x"' } }],
      [{ index: 0, function: { arguments: '{}' } }],
      [{ index: 1, function: { arguments: ':1}' } }],
    ],
  },
  {
    how: 'all at index 0, by id',
    deltas: [
      [{ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }],
      [{ index: 0, id: 'b', function: { name: 'two', arguments: '{"x"' } }],
      [{ index: 0, function: { arguments: ':1}' } }],
    ],
  },
  {
    how: 'without index and id, by name',
    deltas: [[{ function: { name: 'one', arguments: {} } }], [{ function: { name: 'two', arguments: '{"x":1}' } }]],
  },
  {
    how: 'with one id for two',
    deltas: [
      [{ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }],
      [{ index: 1, id: 'a', function: { name: 'two', arguments: '{"x":1}' } }],
    ],
  },
])('streamed calls are told apart $how, and each has an id of its own', async ({ deltas }) => {
  const parts = deltas.map((calls) => chunk({ tool_calls: calls }));
  const { choices } = await streamed(...parts, chunk({}, 'tool_calls'), DONE);
  const calls = choices[0]!.message['tool_calls'] as { id: string; function: object }[];
  expect(calls.map((each) => each.function)).toEqual([
    { name: 'one', arguments: '{}' },
    { name: 'two', arguments: '{"x":1}' },
  ]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  expect(calls.every(({ id }) => /^[A-Za-z0-9]+$/.test(id))).toBe(true);
});

test('a response of very many small pieces is put together in one pass', async () => {
  const count = 50_000;
  const pieces = Array.from({ length: count }, (_, index) => [
    { reasoning_details: [{ type: 'reasoning.text', index, text: 'x' }] },
    {
      tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: index === 0 ? '{"x":"' : 'y' } }],
    },
  ]);
  const { choices, beyond } = await streamed(
    pieces
      .flat()
      .map((delta) => chunk(delta))
      .join(''),
    chunk({}, 'tool_calls'),
    DONE,
  );
  expect(choices[0]!.message['tool_calls']).toHaveLength(1);
  expect(beyond.reasoning).toMatchObject({ reasoning_details: { length: count } });
});

test('reasoning is kept apart under the name in which it came, its blocks joined', async () => {
  const { choices, beyond } = await streamed(
    chunk({
      reasoning: 'Let me ',
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let me ' }],
    }),
    chunk({
      reasoning: 'see.',
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'see.', signature: 's' }],
    }),
    chunk({ content: 'So.' }, 'stop'),
    DONE,
  );
  expect(choices[0]!.message).toEqual({ role: 'assistant', content: 'So.' });
  expect(beyond.reasoning).toEqual({
    reasoning: 'Let me see.',
    reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let me see.', signature: 's' }],
  });
});

test.each([
  ['an error event', 'data: {"error":{"message":"Overloaded","code":503}}\n\n', 503, 'Overloaded'],
  ['what is no JSON', 'data: Internal failure\n\n', 502, 'Internal failure'],
  ['the reason "error"', chunk({}, 'error', { error: { message: 'gone' } }) + DONE, 502, 'gone'],
])('a stream that is ended by %s is a refusal that may be billed', async (_what, last, status, words) => {
  const failure = streamed(chunk({ content: 'Part' }), last);
  expect(await failureOf(failure)).toMatchObject({ name: 'Refusal', status, words, begun: true });
});

test.each([
  ['in its text', [chunk({ content: 'Part' })]],
  ['in a call', [chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'x', arguments: '{"a' } }] })]],
  [
    'in a character',
    [chunk({ content: 'Part' }), 'data: {"choices":[{"delta":{"content":"', Buffer.from([0xf0, 0x9f])],
  ],
])('a stream that stops %s has broken off and may be billed', async (_where, parts) => {
  expect(await failureOf(streamed(...parts))).toMatchObject({
    kind: 'unreachable',
    details: { retryable: true, cutOff: true },
  });
});

test('a stream without its usage and its last mark is whole once it has said why it ends', async () => {
  const { choices, usage } = await streamed(chunk({ content: 'All.' }, 'stop'));
  expect([choices[0]!.message['content'], usage]).toEqual(['All.', undefined]);
});

test('a server that answers a request for a stream with one body is read as well', async () => {
  const message = { role: 'assistant', content: 'All.', reasoning_content: 'Hm.' };
  answer = (_request, response) =>
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  const response = await call(undefined, { body: STREAMED });
  const { choices, beyond } = (await response.json()) as Completion;
  expect(choices[0]!.message).toEqual({ role: 'assistant', content: 'All.' });
  expect(beyond.reasoning).toEqual({ reasoning_content: 'Hm.' });
});

test('a stream that falls silent ends after the silence that is allowed, and may be billed', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(chunk({ content: 'Part' }));
  };
  expect(await failureOf(call(undefined, { body: STREAMED, silenceMs: 500 }))).toMatchObject({
    kind: 'unreachable',
    details: { cutOff: true },
    message: 'The model sent nothing for longer than MODEL_SILENCE_SECONDS.',
  });
});

/** Refuses with this body, and returns the refusal. */
async function refusalOf(status: number, body: string, sent: object = {}): Promise<Refusal> {
  answer = (_request, response) => response.writeHead(status).end(body);
  const failure = await failureOf(call(undefined, { body: JSON.stringify(sent) }));
  expect(failure).toBeInstanceOf(Refusal);
  return failure as Refusal;
}

const PROMPT = 'Report what the competitors of Example have changed on their pages since last week.';

test.each([
  ['OpenAI', '{"error":{"message":"Bad value.","type":"invalid_request_error","code":null}}', 'Bad value.'],
  ['vLLM', '{"object":"error","message":"Bad value.","type":"BadRequestError","code":400}', 'Bad value.'],
  ['Mistral', '{"object":"error","message":{"detail":[{"loc":["body","x"],"msg":"Bad value."}]}}', 'Bad value.'],
  ['FastAPI', '{"detail":"Bad value."}', 'Bad value.'],
  ['Ollama', '{"error":"Bad value."}', 'Bad value.'],
  ['Baidu', '{"error_code":17,"error_msg":"Bad value."}', 'Bad value.'],
  ['MiniMax', '{"base_resp":{"status_code":1004,"status_msg":"Bad value."}}', 'Bad value.'],
  ['an authorizing proxy', '{"error":"denied","error_description":"Bad value."}', 'denied Bad value.'],
  ['details without a message', '{"error":{"code":"bad","details":"Bad value."}}', 'Bad value.'],
  ['a message with details', '{"error":{"message":"Bad value.","details":"More."}}', 'Bad value.'],
  [
    'OpenRouter',
    '{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"error\\":{\\"message\\":\\"Bad value.\\"}}"}}}',
    'Provider returned error Bad value.',
  ],
  ['a proxy', '<html><head><style>p{}</style></head><body><h1>Bad value.</h1></body></html>', 'Bad value.'],
  ['nothing', '', ''],
  ['control characters', '{"error":{"message":"Bad\\u0000 \\u202e\\n\\u001b[31mvalue."}}', 'Bad [31mvalue.'],
])('the words of %s are found', async (_server, body, words) => {
  expect((await refusalOf(400, body)).words).toBe(words);
});

test('words hold neither the key nor the prompt, and are cut', async () => {
  const message = `Key ${API_KEY}, Bearer ${API_KEY} or sk-abcd****wxyz is wrong for "${PROMPT}" ${'x'.repeat(3e6)}`;
  const { words } = await refusalOf(400, JSON.stringify({ error: { message } }), {
    messages: [{ role: 'user', content: PROMPT }],
  });
  expect(words).toHaveLength(500);
  expect(words).toMatch(/^Key \[redacted\], Bearer \[redacted\] or \[redacted\] is wrong for \\?"\[…\]\\?" x+…$/);
});

test('a refusal of calls without tools teaches to write them as text', async () => {
  const message = 'Anthropic expects the `tools=` param to be passed in when tool calls are in messages.';
  const calls = { messages: [{ role: 'assistant', tool_calls: [] }] };
  const body = JSON.stringify({ error: { message } });
  expect((await refusalOf(400, body, calls)).lesson.learned).toEqual({ callsWithoutTools: false });
  expect((await refusalOf(400, body, { ...calls, tools: [] })).lesson.learned).toBeUndefined();
});

const SENT = {
  max_tokens: 9_000,
  stream: true,
  stream_options: {},
  response_format: {},
  parallel_tool_calls: false,
  messages: [{ role: 'assistant', reasoning_content: 'Hm.', tool_calls: [] }],
};

test.each([
  [
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { outputLimit: 'max_completion_tokens' },
  ],
  [422, 'max_tokens: Extra inputs are not permitted', { outputLimit: 'max_completion_tokens' }],
  [
    400,
    'max_tokens is too large: 9000. This model supports at most 4096 completion tokens.',
    { maxOutputTokens: 4_096 },
  ],
  [
    400,
    "This model's maximum context length is 8192 tokens. However, you requested 12616 tokens (3616 in the messages, 9000 in the completion).",
    { contextTokens: 8_192 },
  ],
  [400, 'stream_options: Extra inputs are not permitted', { streamUsage: false }],
  [400, 'Streaming is not supported for this model', { streaming: false }],
  [404, 'No endpoints found that support the provided response_format', { structuredOutputs: false }],
  [400, "'messages.0' : property 'reasoning_content' is unsupported", { reasoningBack: false }],
  [400, 'Unrecognized request argument supplied: parallel_tool_calls', { parallelToolCallsField: false }],
  [500, 'This model only supports single tool-calls at once!', { parallelToolCalls: false }],
  [500, 'System role not supported', { systemRole: false }],
  [400, 'The temperature is too high', undefined],
  [429, 'max_tokens a minute', undefined],
])('a refusal with %i, %j teaches %j', async (status, message, learned) => {
  const refusal = await refusalOf(status, JSON.stringify({ error: { message } }), SENT);
  expect(refusal.lesson.learned).toEqual(learned);
  expect(refusal.lesson.isOverflow).toBe(false);
});

test.each([
  '{"error":{"code":400,"message":"request (10979 tokens) exceeds the available context size","type":"exceed_context_size_error","n_ctx":8192}}',
  '{"error":{"message":"Too long.","code":"context_length_exceeded"}}',
  '{"message":"This model\'s maximum context length is 8192 tokens. However, you requested 20000 tokens (19500 in the messages, 500 in the completion)."}',
  '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
  '{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}',
])('%s says that the context is exceeded', async (body) => {
  const { lesson } = await refusalOf(400, body, SENT);
  expect([lesson.isOverflow, lesson.learned]).toEqual([true, undefined]);
});

test('a refusal of a limit that is too large says how much room is left', async () => {
  const message =
    "'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 3616 input tokens";
  const { lesson } = await refusalOf(400, JSON.stringify({ message }), SENT);
  expect(lesson.outputLeft).toBe(8_192 - 3_616);
});
