import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseExact } from '#lib/exact-json/parse.ts';
import type { RuntimeClient } from '#lib/runtime-client/index.ts';
import type { Runtime } from '#runtime/start.ts';
import { oneOfEach, FULL_SIZE } from '#test/support/properties.ts';
import { BODY, callOn, createRig, runOn, SLOTS, type Rig } from './rig.ts';

let rig: Rig;
let runtime: Runtime;
let client: RuntimeClient;

beforeAll(async () => {
  rig = await createRig();
  runtime = await rig.start();
  client = rig.client(runtime.port);
  return () => rig.close();
});
beforeEach(() => rig.providers.control.reset());

const WEATHER = {
  name: 'weather_lookup',
  description: 'Looks the weather up.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

type Status = readonly [
  number,
  Record<string, string>,
  string,
  { readonly retryable?: boolean; readonly [field: string]: unknown },
];

/** Statuses, each with its headers, and the code and the details that become of it. */
const STATUSES: readonly Status[] = [
  [401, {}, 'credential_refused', { status: 401 }],
  [403, {}, 'credential_refused', { status: 403 }],
  [402, {}, 'usage_limit', { status: 402, resetAt: null }],
  [400, {}, 'model_error', { status: 400, retryable: false }],
  [500, {}, 'model_error', { status: 500, retryable: true }],
  [503, { 'retry-after': '7' }, 'model_error', { retryable: true, retryAfterMs: 7_000 }],
  [429, { 'retry-after': '7' }, 'rate_limited', { status: 429, retryAfterMs: 7_000 }],
  [307, { location: 'http://127.0.0.1:1/' }, 'model_error', { status: 307 }],
];

describe.each(SLOTS)('a model step on %s', (provider) => {
  /** On each change only one protocol is tested for behaviour that all three share. */
  const common = test.runIf(FULL_SIZE || provider === SLOTS[0]);
  const run = (changes: Parameters<typeof runOn>[2] = {}) =>
    client.run(runOn(rig, runtime.instanceId, { provider, ...changes }));

  test('gives text, usage and why it ended', async () => {
    rig.providers.control.script({ kind: 'text', text: 'All is well. '.repeat(20) });
    const result = await run();
    expect(result.text).toBe('All is well. '.repeat(20));
    expect(result.finishReason).toBe('stop');
    expect(result.toolCalls).toEqual([]);
    expect(result.messages).toMatchObject([{ role: 'assistant' }]);
    expect(result.usage.inputTokens).toBeGreaterThan(5);
    expect(result.usage.outputTokens).toBe(65);
    const [request] = rig.providers.control.requests();
    expect(request?.body).toMatchObject({ model: 'fixture/account-small', stream: true });
    expect(JSON.stringify(request?.body)).toContain('You are careful.');
    expect(request?.headers['user-agent']).toBe('routine-automation-service');
  });

  test('offers tools, returns their calls, and reads their results in the next step', async () => {
    const body = { ...BODY, tools: [WEATHER] };
    const args = JSON.stringify({ city: 'Oslo' });
    rig.providers.control.script({
      kind: 'tool-calls',
      calls: [{ name: WEATHER.name, arguments: args }],
    });
    const first = await run({ body });
    expect(first.finishReason).toBe('tool-calls');
    expect(first.toolCalls).toMatchObject([{ name: WEATHER.name, input: { city: 'Oslo' }, invalid: false }]);
    const { callId, name } = first.toolCalls[0]!;
    const result = {
      role: 'tool' as const,
      content: [
        {
          type: 'tool-result',
          toolCallId: callId,
          toolName: name,
          output: { type: 'text', value: 'Rain all week.' },
        },
      ],
    };
    const messages = [...BODY.messages, ...first.messages, result];
    const second = await run({ body: { ...body, messages } });
    expect(second.text).not.toBe('');
    expect(second.toolCalls).toEqual([]);
    const sent = JSON.stringify(rig.providers.control.requests()[1]?.body);
    expect(sent).toContain('Rain all week.');
    expect(sent).toContain(callId);
  });

  test('keeps every digit of arguments, there and back, and names what is doubled in them', async () => {
    const exact =
      '{"city":"Oslo: 1234567890123456789","order":1234567890123456789,"price":0.1000000000000000000000000001}';
    const doubled = '{"city":"Oslo","city":"Bergen"}';
    rig.providers.control.script({
      kind: 'tool-calls',
      calls: [exact, doubled].map((args) => ({ name: WEATHER.name, arguments: args })),
    });
    const inputSchema = {
      ...WEATHER.inputSchema,
      properties: { order: { maximum: Object(parseExact('[18446744073709551615]'))[0] } },
    };
    const body = { ...BODY, tools: [{ ...WEATHER, inputSchema }] };
    const first = await run({ body });
    expect(JSON.stringify(first.toolCalls[0]?.input)).toBe(exact);
    expect(first.toolCalls[1]).toMatchObject({ input: doubled, invalid: true });
    const result = (call: (typeof first.toolCalls)[number]) => ({
      type: 'tool-result',
      toolCallId: call.callId,
      toolName: call.name,
      output: { type: 'text', value: 'Rain.' },
    });
    const answers = { role: 'tool' as const, content: first.toolCalls.map(result) };
    await run({ body: { ...body, messages: [...BODY.messages, ...first.messages, answers] } });
    const sent = JSON.stringify(rig.providers.control.requests()[1]?.body);
    expect(sent).toMatch(/order\W+1234567890123456789\W+price\W+0\.1000000000000000000000000001\D/);
    expect(sent).toContain('18446744073709551615');
  });

  common('says which calls are invalid', async () => {
    rig.providers.control.script({
      kind: 'tool-calls',
      calls: [
        { name: WEATHER.name, arguments: '{"city":"Oslo"}' },
        { name: 'no_such_tool', arguments: '{}' },
      ],
    });
    const { toolCalls } = await run({ body: { ...BODY, tools: [WEATHER] } });
    expect(toolCalls.map(({ name, invalid }) => [name, invalid])).toEqual([
      [WEATHER.name, false],
      ['no_such_tool', true],
    ]);
  });

  test('makes of a length limit a reason, and of lies numbers', async () => {
    rig.providers.control.script({ kind: 'text', text: 'cut', finishReason: 'length' });
    expect((await run({ body: { ...BODY, maxOutputTokens: 7 } })).finishReason).toBe('length');
    expect(JSON.stringify(rig.providers.control.requests()[0]?.body)).toMatch(/tokens":7\b/);
    rig.providers.control.script({ kind: 'lying-usage', tokens: 10 ** 12 });
    const { usage } = await run();
    expect(usage.inputTokens).toBeLessThanOrEqual(10 ** 9);
  });

  common.for(oneOfEach(STATUSES, ([, , code, details]) => [code, details.retryable]))(
    'tells status %i %j apart: %s',
    async ([status, headers, code, details]) => {
      const secretText = 'the provider wrote this';
      rig.providers.control.script({ kind: 'error', status, headers, body: { error: secretText } });
      const error = await run().catch((failure: unknown) => failure);
      expect(error).toMatchObject({ name: 'CallFailure', code, details });
      expect(JSON.stringify([error, String(error)])).not.toContain(secretText);
    },
  );

  common('waits as long as a number of seconds or an HTTP date says, and ignores other dates', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000);
    const waits = [inAnHour.toUTCString(), inAnHour.toISOString()];
    for (const wait of waits) {
      rig.providers.control.script({
        kind: 'error',
        status: 503,
        headers: { 'retry-after': wait },
      });
    }
    await expect(run()).rejects.toMatchObject({ details: { retryAfterMs: expect.any(Number) } });
    await expect(run()).rejects.toMatchObject({ details: { retryAfterMs: null } });
  });

  common('reads when a used-up allowance resets, in either form', async () => {
    const at = Math.floor(Date.now() / 1_000) + 123_518;
    const limit = (fields: object) => ({
      kind: 'error' as const,
      status: 429,
      body: { error: { type: 'usage_limit_reached', ...fields } },
    });
    rig.providers.control.script(limit({ resets_at: at }), limit({ resets_in_seconds: 3_600 }));
    await expect(run()).rejects.toMatchObject({
      code: 'usage_limit',
      details: { resetAt: at * 1_000 },
    });
    const before = Date.now();
    const error = (await run().catch((failure: unknown) => failure)) as {
      details: { resetAt: number };
    };
    expect(error.details.resetAt - 3_600_000).toBeGreaterThanOrEqual(before - 1_000);
    expect(error.details.resetAt - 3_600_000).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  test('reads an error within a stream that began well', async () => {
    rig.providers.control.script(
      { kind: 'stream-error', error: { type: 'overloaded_error', code: 'server_error' } },
      { kind: 'stream-error', error: { type: 'usage_limit_reached', code: 'usage_limit_reached' } },
    );
    await expect(run()).rejects.toMatchObject({
      code: 'model_error',
      details: { retryable: true },
    });
    await expect(run()).rejects.toMatchObject({ code: 'usage_limit' });
  });

  test.each(['broken-stream', 'unfinished'] as const)('takes no half answer: %s', async (kind) => {
    rig.providers.control.script({ kind });
    // One library reports an error of the provider, another an unreadable answer. Both errors are retried.
    await expect(run()).rejects.toMatchObject({
      code: expect.stringMatching(/^(model_error|malformed)$/),
    });
  });

  common('refuses a response that cannot be read', async () => {
    rig.providers.control.script({ kind: 'malformed' });
    await expect(run()).rejects.toMatchObject({ code: 'malformed' });
  });

  common(
    'ends a response without end at its limit',
    async () => {
      rig.providers.control.script({ kind: 'endless' });
      // A busy machine takes long to read so much.
      const deadline = Date.now() + 290_000;
      await expect(run({ deadline })).rejects.toMatchObject({ code: 'too_large' });
    },
    300_000,
  );

  common('ends at its deadline, where a provider hangs and where it begins a response', async () => {
    rig.providers.control.script({ kind: 'hang' }, { kind: 'silent' });
    const deadline = Date.now() + 4_000;
    const timeout = { status: 'rejected', reason: expect.objectContaining({ code: 'timeout' }) };
    const calls = await Promise.allSettled([run({ deadline }), run({ deadline })]);
    expect(calls).toEqual([timeout, timeout]);
    const aborted = () => rig.providers.control.requests().map((request) => request.aborted);
    await expect.poll(aborted).toEqual([true, true]);
  });

  common('lists the models that the file keeps, over all pages', async () => {
    const { models } = await client.catalog(callOn(rig, runtime.instanceId, { provider }));
    expect(models).toEqual([
      { id: 'fixture/account-small', name: 'Account Small', contextTokens: 64_000 },
      { id: 'fixture/account-large', name: 'Account Large', contextTokens: 200_000 },
      { id: 'fixture/account-plain', name: 'fixture/account-plain', contextTokens: null },
    ]);
  });

  common.each([
    [200, {}, { credential: 'accepted', limited: false }],
    [401, {}, { credential: 'rejected', limited: false }],
    [403, {}, { credential: 'rejected', limited: false }],
    [402, {}, { credential: 'accepted', limited: true }],
    [429, {}, { credential: 'accepted', limited: true }],
    [500, {}, { credential: 'unchecked', limited: false }],
  ])('tries a credential, of which %i says %j', async (status, body, expected) => {
    rig.providers.control.answer('/key', status, body);
    const said = await client.verify(callOn(rig, runtime.instanceId, { provider }));
    expect(said).toMatchObject(expected);
    expect(rig.providers.control.requests().map(({ target }) => target)).toEqual(['/key']);
  });

  common('a provider that does not answer in time proves nothing of a credential', async () => {
    rig.providers.control.hang('/key');
    const call = callOn(rig, runtime.instanceId, { provider, deadline: Date.now() + 1_000 });
    await expect(client.verify(call)).rejects.toMatchObject({ code: 'timeout' });
    await expect.poll(() => rig.providers.control.requests()[0]?.aborted).toBe(true);
  });

  common('a credential that the provider does not know is refused', async () => {
    const credential = { value: 'key-of-another', account: null };
    const call = callOn(rig, runtime.instanceId, { provider, credential });
    expect(await client.verify(call)).toMatchObject({ credential: 'rejected' });
    await expect(run({ credential })).rejects.toMatchObject({ code: 'credential_refused' });
  });
});
