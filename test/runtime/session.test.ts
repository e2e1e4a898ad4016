import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { FIXTURE_KEY } from '#dev/fakes/providers/server.ts';
import { readProviderFile, type ProviderSlot } from '#lib/provider-file/index.ts';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { createSandbox } from '#runtime/sandbox/sandbox.ts';
import { brokerFetch } from '#runtime/session/broker-fetch.ts';
import { runStep } from '#runtime/session/step.ts';
import { BODY, createRig, SLOTS, type Rig } from './rig.ts';

let rig: Rig;

beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());
beforeEach(() => rig.providers.control.reset());

/** Performs one step like a session, through a broker but in this process and with a shorter timeout. */
async function step(slot: ProviderSlot, idleMs: number) {
  const sandbox = createSandbox('process');
  onTestFinished(() => sandbox.close());
  const socketPath = sandbox.socketPath();
  const broker = await startBroker(socketPath);
  onTestFinished(() => broker.close());
  const bytes = readFileSync(path.join(rig.folder, `${slot}.yaml`));
  const provider = readProviderFile(slot, bytes, { termsAccepted: false });
  const { api, limits } = provider.file;
  const paths = {
    'openai-chat': '/chat/completions',
    'openai-responses': '/responses',
    'anthropic-messages': '/messages',
  };
  const target = paths[api.protocol];
  broker.assign({
    provider,
    allowed: [{ method: 'POST', path: target }],
    credential: { value: FIXTURE_KEY, account: null },
    signal: new AbortController().signal,
    fetch,
  });
  const { protocol, options } = api;
  return runStep(
    { protocol, path: target, ...BODY, options, limits, idleMs },
    brokerFetch({ socketPath, path: target, omit: [] }),
  );
}

test.each(SLOTS)('bytes that only keep the connection are silence: %s', async (slot) => {
  rig.providers.control.script({ kind: 'silent' });
  expect(await step(slot, 500)).toEqual({ failure: { code: 'timeout', details: {} } });
  await expect.poll(() => rig.providers.control.requests()[0]?.aborted).toBe(true);
});

test('a model that keeps writing, however slowly, is not cut off', async () => {
  // All pauses together are longer than the timeout. A machine that stops for seconds must not seem silent.
  const [idleMs, pauseMs] = [6_000, 1_200];
  for (const _ of SLOTS) rig.providers.control.script({ kind: 'slow', pauseMs });
  const started = performance.now();
  const steps = await Promise.all(SLOTS.map((slot) => step(slot, idleMs)));
  expect(steps).toMatchObject(SLOTS.map(() => ({ result: { finishReason: 'stop' } })));
  expect(performance.now() - started).toBeGreaterThan(idleMs);
});
