import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

import type { MannerName } from '#dev/gateway/manners.ts';
import type { ScriptInput } from '#dev/gateway/script.ts';
import { startGateway, type Gateway } from '#dev/gateway/server.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: console.error });
});
beforeEach(() => {
  gateway.control.reset();
  gateway.control.manner('fixture');
});
afterAll(() => gateway.stop());

const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const FORMAT = { type: 'json_schema', json_schema: { name: 'result', schema } };

function post(body: object): Promise<Response> {
  const messages = [{ role: 'user', content: 'Look it up' }];
  return fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-secret', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fixture/writer-small', messages, ...body }),
  });
}

const Message = z.looseObject({
  content: z.unknown(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        function: z.looseObject({ arguments: z.string() }),
      }),
    )
    .optional(),
});
const Answer = z.looseObject({
  choices: z.array(z.object({ message: Message, finish_reason: z.string().nullable() })).min(1),
  usage: z.looseObject({ prompt_tokens: z.unknown() }).optional(),
});

async function answer(body: object = {}, script?: ScriptInput) {
  if (script !== undefined) gateway.control.script(script);
  const { choices, usage } = Answer.parse(await (await post(body)).json());
  const [{ message, finish_reason: reason } = { message: {}, finish_reason: null }] = choices;
  return { ...Message.parse(message), reason, usage };
}

async function streamed(script: ScriptInput, body: object = {}): Promise<string> {
  gateway.control.script(script);
  const response = await post({ stream: true, stream_options: { include_usage: true }, ...body });
  return response.text();
}

describe('an answer in the manner of a server', () => {
  it.each<MannerName>(['llama.cpp', 'vllm'])('%s makes no call under a schema', async (manner) => {
    gateway.control.manner(manner);
    const held = await answer({ tools, response_format: FORMAT });
    expect([held.content, held.tool_calls]).toEqual(['{"n":1}', undefined]);
    expect((await answer({ tools })).tool_calls).toHaveLength(1);
  });

  it('is cut off where it may be no longer, and not by the fixture itself', async () => {
    expect((await answer({ max_tokens: 5 })).reason).toBe('stop');
    gateway.control.manner('vllm');
    expect(await answer({ max_tokens: 5 })).toMatchObject({
      reason: 'length',
      content: '# Look it up\n\nReport',
    });
  });

  it('forgets without a word what is over the window of Ollama', async () => {
    gateway.control.manner('ollama');
    const messages = [{ role: 'user', content: `Begin ${'x'.repeat(40_000)} end` }];
    const { usage, content } = await answer({ messages });
    expect(usage?.prompt_tokens).toBeLessThanOrEqual(4_096);
    expect(content).not.toContain('Begin');
  });

  it.each<[MannerName, object]>([
    ['llama.cpp', { reasoning_content: expect.any(String) }],
    ['groq', { reasoning: expect.any(String) }],
    [
      'openrouter',
      { reasoning: expect.any(String), reasoning_details: [{ type: 'reasoning.text' }] },
    ],
    ['gemini', { extra_content: { google: { thought_signature: expect.any(String) } } }],
    ['lm-studio', { content: expect.stringMatching(/^<think>\n.+\n<\/think>\n\n# Look/) }],
  ])('%s gives its reasoning in a field of its own', async (manner, expected) => {
    gateway.control.manner(manner);
    expect(await answer({ model: 'fixture/thinker' })).toMatchObject(expected);
  });

  it('has ids that Mistral takes back', async () => {
    gateway.control.manner('mistral');
    expect((await answer({ tools })).tool_calls?.[0]?.id).toMatch(/^[a-z0-9]{9}$/);
  });

  it('has comments in its stream where OpenRouter waits, and other line ends at Google', async () => {
    gateway.control.manner('openrouter');
    expect(await streamed({})).toContain(': OPENROUTER PROCESSING\n\ndata: {');
    gateway.control.manner('gemini');
    expect(await streamed({})).toMatch(/\r\n\r\ndata: \[DONE\]\r\n\r\n$/);
  });
});

const CALLS: ScriptInput['behaviour'] = {
  kind: 'tool-calls',
  calls: [
    { name: 'look_up', arguments: { place: 'Köln am Rhein' } },
    { name: 'look_up', arguments: '{"place":"B' },
  ],
};

describe('a form of answer', () => {
  it.each<[string, ScriptInput['form'], object]>([
    ['the reason error', { finishReason: 'error' }, { reason: 'error' }],
    ['no reason', { finishReason: null }, { reason: null }],
    [
      'a cut call',
      { maxTokens: 3 },
      { reason: 'length', tool_calls: [{ function: { arguments: '{"place":"Kö' } }] },
    ],
    ['no usage', { usage: 'none' }, { reason: 'tool_calls', usage: undefined }],
    [
      'usage as text',
      { usage: 'decimal text' },
      { usage: { prompt_tokens: expect.stringMatching(/^\d+$/) } },
    ],
    [
      'calls as text',
      { calls: 'text' },
      {
        reason: 'stop',
        content: expect.stringMatching(/^<tool_call>\n\{"name": "look_up", /),
      },
    ],
  ])('has %s', async (_, form, expected) => {
    expect(await answer({}, { behaviour: CALLS, form })).toMatchObject(expected);
  });

  it('has ids that are the same, empty or missing', async () => {
    const idsIn = async (form: ScriptInput['form']) =>
      (await answer({}, { behaviour: CALLS, form })).tool_calls?.map(({ id }) => id);
    expect(new Set(await idsIn({ ids: 'same' })).size).toBe(1);
    expect(await idsIn({ ids: 'empty' })).toEqual(['', '']);
    expect(await idsIn({ ids: 'missing' })).toEqual([undefined, undefined]);
  });

  it('has parts, and thinking that ends but does not begin', async () => {
    const behaviour = { kind: 'text', text: 'Well.', reasoning: 'Hm.' } as const;
    const { content } = await answer({}, { behaviour, form: { content: 'parts' } });
    expect(content).toEqual([{ type: 'text', text: 'Well.' }]);
    const open = await answer({}, { behaviour, form: { reasoning: 'think-end' } });
    expect(open.content).toBe('Hm.\n</think>\n\nWell.');
  });

  it('states usage twice in a stream, or breaks off with an error in it', async () => {
    const twice = await streamed({ form: { usage: 'twice' } });
    expect(twice.match(/"usage":/g)).toHaveLength(2);
    const error = { message: 'Provider disconnected', code: 502 };
    expect(await streamed({ form: { error } })).toMatch(
      /data: \{"error":\{"message":"Provider disc.*\}\n\n$/,
    );
    gateway.control.manner('openrouter');
    expect(await streamed({ form: { error } })).toMatch(
      /"error":\{.*"finish_reason":"error"\}\]\}\n\n$/,
    );
  });

  it.each([
    ['call', /"index":1,"id":.*"arguments":""\}\}\]\},"finish_reason":null\}\]\}\n\n$/],
    ['character', /K\uFFFD$/],
    ['usage', /"finish_reason":"tool_calls"\}\]\}\n\n$/],
    ['done', /"usage":\{.*\}\}\n\n$/],
  ] as const)(
    'stops in or before the %s, as if that were the end or abruptly',
    async (stop, end) => {
      const behaviour = CALLS;
      expect(await streamed({ behaviour, form: { stop } })).toMatch(end);
      await expect(streamed({ behaviour, form: { stop, abrupt: true } })).rejects.toThrow(
        'terminated',
      );
    },
  );
});

describe('a server in trouble', () => {
  it('says what it was sent, at any length, or that it loads', async () => {
    gateway.control.script(
      { behaviour: { kind: 'error', status: 401, message: 'Incorrect API key provided: {key}.' } },
      { behaviour: { kind: 'error', status: 500, message: '\u0007'.repeat(2_000_000) } },
      { behaviour: { kind: 'error', status: 400, json: { detail: 'no {key}' } } },
      { behaviour: { kind: 'loading' } },
    );
    expect(await (await post({})).text()).toContain('provided: sk-secret.');
    expect((await (await post({})).text()).length).toBeGreaterThan(2_000_000);
    expect(await (await post({})).json()).toEqual({ detail: 'no sk-secret' });
    const loading = await post({});
    expect([loading.status, await loading.json()]).toEqual([
      503,
      { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
    ]);
  });

  it('answers each of two requests with what belongs to the other', async () => {
    gateway.control.script({ times: 2, behaviour: { kind: 'swap' } });
    const ask = (content: string) => answer({ messages: [{ role: 'user', content }] });
    const [first, second] = await Promise.all([ask('The first'), ask('The second')]);
    expect(first.content).toContain('# The second');
    expect(second.content).toContain('# The first');
  });

  it('sends comments and nothing else', async () => {
    gateway.control.script({ behaviour: { kind: 'hang', comments: true } });
    const response = await post({ stream: true });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain(': OPENROUTER PROCESSING');
    await reader?.cancel();
  });
});
