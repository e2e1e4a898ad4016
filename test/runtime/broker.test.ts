import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { OutboundError } from '#lib/outbound/index.ts';
import { readProviderFile } from '#lib/provider-file/index.ts';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { createSandbox } from '#runtime/sandbox/sandbox.ts';
import { createRig } from './rig.ts';

/** Sends a step's request through a broker that cannot reach the provider, and returns the broker's error. */
async function failureAfter(error: OutboundError) {
  const rig = await createRig();
  onTestFinished(() => rig.close());
  const sandbox = createSandbox('process');
  onTestFinished(() => sandbox.close());
  const socketPath = sandbox.socketPath();
  const broker = await startBroker(socketPath);
  onTestFinished(() => broker.close());
  const bytes = readFileSync(path.join(rig.folder, 'provider-c.yaml'));
  broker.assign({
    provider: readProviderFile('provider-c', bytes, { termsAccepted: false }),
    allowed: [{ method: 'POST', path: '/messages' }],
    credential: { value: 'the-key', account: null },
    signal: new AbortController().signal,
    fetch: async () => {
      throw new TypeError('fetch failed', { cause: error });
    },
  });
  await new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method: 'POST', path: '/messages' }, (response) => {
      response.resume().once('end', resolve);
    });
    outgoing.once('error', reject);
    outgoing.end('{}');
  });
  return broker.failure();
}

test('only a provider that had the request is said to have timed out', async () => {
  const sent = new OutboundError('timeout', 'no answer in time');
  expect(await failureAfter(sent)).toEqual({ code: 'timeout', details: {} });
  const unsent = new OutboundError('timeout', 'no connection in time', { mayHaveArrived: false });
  expect(await failureAfter(unsent)).toEqual({
    code: 'model_error',
    details: { status: null, retryable: true },
  });
});
