import { expect, onTestFinished, test } from 'vitest';
import { FIXTURE_KEY } from '#dev/providers/server.ts';
import { BODY, createRig, runOn, SLOTS, type RigOptions } from './rig.ts';

const TOOL = { name: 'lookup', description: 'Looks up.', inputSchema: { type: 'object' } };

async function open(options: RigOptions) {
  const rig = await createRig(options);
  onTestFinished(() => rig.close());
  const runtime = await rig.start();
  const client = rig.client(runtime.port);
  return {
    rig,
    run: (changes: Parameters<typeof runOn>[2]) =>
      client.run(runOn(rig, runtime.instanceId, changes)),
    sent: () => rig.providers.control.requests().at(-1),
  };
}

test('fields that the provider does not take are left out, and usage is not asked for where it may not', async () => {
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
