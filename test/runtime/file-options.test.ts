import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { expect, onTestFinished, test } from 'vitest';
import { FIXTURE_KEY } from '#dev/fakes/providers/server.ts';
import { readProviderFile } from '#lib/provider-file/index.ts';
import { listModels, verifyCredential } from '#runtime/provider/catalog.ts';
import { providerHeaders } from '#runtime/provider/request-json.ts';
import { BODY, createRig, runOn, SLOTS, type RigOptions } from './rig.ts';

const TOOL = { name: 'lookup', description: 'Looks up.', inputSchema: { type: 'object' } };

async function open(options: RigOptions) {
  const rig = await createRig(options);
  onTestFinished(() => rig.close());
  const runtime = await rig.start();
  const client = rig.client(runtime.port);
  return {
    rig,
    run: (changes: Parameters<typeof runOn>[2]) => client.run(runOn(rig, runtime.instanceId, changes)),
    sent: () => rig.providers.control.requests().at(-1),
  };
}

test('fields that the provider refuses are left out, and usage is not requested if the provider forbids it', async () => {
  const { run, sent } = await open({ api: { options: { omit: ['top_p', 'max_tokens'] } } });
  const body = { ...BODY, maxOutputTokens: 50 };
  await run({ provider: 'provider-a', body });
  expect(sent()?.body).not.toHaveProperty('max_tokens');
  expect(sent()?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  const plain = await open({ api: { options: { stream: 'plain' } } });
  await plain.run({ provider: 'provider-a', body });
  expect(plain.sent()?.body).toMatchObject({ stream: true, max_tokens: 50 });
  expect(plain.sent()?.body).not.toHaveProperty('stream_options');
});

test.each(SLOTS)('tools have their namespace at the provider only: %s', async (provider) => {
  const { rig, run, sent } = await open({ api: { options: { toolNamespace: 'ras_' } } });
  rig.providers.control.script({
    kind: 'tool-calls',
    calls: [{ name: 'ras_lookup', arguments: '{}' }],
  });
  const first = await run({ provider, body: { ...BODY, tools: [TOOL] } });
  expect(first.toolCalls).toMatchObject([{ name: 'lookup', invalid: false }]);
  expect(JSON.stringify(first.messages)).not.toContain('ras_');
  const result = {
    role: 'tool' as const,
    content: [
      {
        type: 'tool-result',
        toolCallId: first.toolCalls[0]!.callId,
        toolName: 'lookup',
        output: { type: 'text', value: 'found' },
      },
    ],
  };
  const messages = [...BODY.messages, ...first.messages, result];
  await run({ provider, body: { ...BODY, tools: [TOOL], messages } });
  expect(JSON.stringify(sent()?.body)).toContain('"ras_lookup"');
  expect(JSON.stringify(sent()?.body)).not.toContain('"lookup"');
});

test('the account goes into its header, and the headers of the file with it', async () => {
  const api = {
    accountHeader: { name: 'x-account', claim: 'account_id' },
    headers: { 'x-team': 'blue', 'anthropic-version': '2023-06-01' },
  };
  const { run, sent } = await open({ api });
  await run({ provider: 'provider-b', credential: { value: FIXTURE_KEY, account: 'acct-7' } });
  expect(sent()?.headers).toMatchObject({
    'x-account': 'acct-7',
    'x-team': 'blue',
    authorization: `Bearer ${FIXTURE_KEY}`,
  });
  await run({ provider: 'provider-b' });
  expect(sent()?.headers).not.toHaveProperty('x-account');
});

test('a session sends the POST of the list of requests, and nothing else of it', async () => {
  const allow = [
    { method: 'GET', path: '/models' },
    { method: 'POST', path: '/chat/completions' },
  ];
  const { rig, run } = await open({ api: { allow } });
  expect(await run({ provider: 'provider-a' })).toMatchObject({ finishReason: 'stop' });
  expect(rig.providers.control.requests().map(({ method, target }) => `${method} ${target}`)).toEqual([
    'POST /chat/completions',
  ]);
});

/** Reads the example file of a vendor, with changes. */
function example(name: string, change: (file: Record<string, Record<string, unknown>>) => void) {
  const file = parse(readFileSync(path.join('docs/model-providers', `${name}.yaml`), 'utf8')) as Record<
    string,
    Record<string, unknown>
  >;
  change(file);
  return readProviderFile('provider-c', Buffer.from(stringify(file)), { termsAccepted: false });
}

test.each([
  [{}, { authorization: 'Bearer the-key' }],
  [{ scheme: 'Token' }, { authorization: 'Token the-key' }],
  [{ header: 'x-api-key', scheme: '' }, { 'x-api-key': 'the-key' }],
])('a key goes where the file has it: %j', (auth, expected) => {
  const provider = example('xai-key', (file) => Object.assign(file['auth']!, auth));
  expect(providerHeaders(provider, { value: 'the-key', account: null })).toEqual(expected);
});

test.each([
  [{}, 'https://api.x.ai/v1/key'],
  [{ baseUrl: 'https://sign-in.example' }, 'https://sign-in.example/key'],
])('a credential is proven where the file has it: %j', async (verify, expected) => {
  const provider = example('xai-key', (file) => {
    file['verify'] = { ...verify, path: '/key' };
  });
  const asked: string[] = [];
  const { credential } = await verifyCredential({
    provider,
    credential: { value: 'the-key', account: null },
    signal: new AbortController().signal,
    fetch: async (input) => {
      asked.push(input instanceof Request ? input.url : input.toString());
      return new Response('', { status: 401 });
    },
  });
  expect([asked, credential]).toEqual([[expected], 'rejected']);
});

test('a list of models ends, also where the provider names further pages for ever', async () => {
  const provider = example('anthropic-key', () => undefined);
  const asked: string[] = [];
  const listed = await listModels({
    provider,
    credential: { value: 'k', account: null },
    signal: new AbortController().signal,
    fetch: async (input) => {
      const { searchParams } = new URL(input instanceof Request ? input.url : input);
      const after = searchParams.get('after_id') ?? 'first';
      asked.push(after);
      const page = asked.length;
      const data = Array.from({ length: 150 }, (_, n) => ({ id: `model-${page}-${n}` }));
      return Response.json({ data, has_more: true, last_id: `model-${page}-149` });
    },
  });
  expect(listed.models).toHaveLength(2_000);
  expect(new Set(asked).size).toBe(asked.length);
  expect(asked.length).toBeLessThanOrEqual(20);
});

test('a cursor that stays the same ends the list', async () => {
  const provider = example('anthropic-key', () => undefined);
  let pages = 0;
  const listed = await listModels({
    provider,
    credential: { value: 'k', account: null },
    signal: new AbortController().signal,
    fetch: async () => {
      pages += 1;
      return Response.json({ data: [{ id: 'same' }, { id: 7 }, {}], has_more: true, last_id: 'x' });
    },
  });
  expect(listed.models).toEqual([{ id: 'same', name: 'same', contextTokens: null }]);
  expect(pages).toBe(2);
});
