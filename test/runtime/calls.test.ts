import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createFrameOpener, envelopeKeys, MAX_ENVELOPE_BYTES, sealRequest } from '#lib/envelope/index.ts';
import { linesOf, openConnections } from '#lib/runtime-client/exchange.ts';
import type { RuntimeClient } from '#lib/runtime-client/index.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { BODY, callOn, createRig, runOn, type Rig } from './rig.ts';

let rig: Rig;

beforeEach(async () => {
  rig = await createRig();
  return () => rig.close();
  // A runtime starts sessions ahead, and each of them loads the model library.
}, 180_000);

function requests() {
  return rig.providers.control.requests();
}
function asked() {
  return requests().filter(({ method }) => method === 'POST').length;
}

async function open(env?: Record<string, string>) {
  const runtime = await rig.start(env);
  return { runtime, client: rig.client(runtime.port), instanceId: runtime.instanceId };
}

function settled(promises: readonly Promise<unknown>[]) {
  return Promise.all(
    promises.map((each) =>
      each.then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    ),
  );
}

const [MANY, SOME] = FULL_SIZE ? [50, 25] : [8, 4];

describe('the same request', () => {
  test('is executed once, however often it is asked for, at once and afterwards', async () => {
    const { client, instanceId, runtime } = await open();
    rig.providers.control.script({ kind: 'slow', pauseMs: 20 });
    const call = runOn(rig, instanceId);
    const at = await settled(Array.from({ length: MANY }, () => client.run(call)));
    const after = await settled(Array.from({ length: SOME }, () => client.run(call)));
    await runtime.stop();
    const second = await open();
    expect(second.instanceId).toBe(instanceId);
    const restarted = await settled(Array.from({ length: SOME }, () => second.client.run(call)));
    const all = [...at, ...after, ...restarted];
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(all[0]).toMatchObject({ value: { finishReason: 'stop' } });
    expect(asked()).toBe(1);
  });

  test('is executed once when a recorded envelope is sent again and again, also after a restart', async () => {
    const { runtime, instanceId } = await open();
    rig.providers.control.script({ kind: 'slow', pauseMs: 20 });
    const { lease, body, credential, ...rest } = runOn(rig, instanceId);
    const claims = { ...rest, issuer: 'test', audience: instanceId, epoch: lease.epoch };
    const keys = envelopeKeys(rig.secret);
    const sealed = { claims: { ...claims, purpose: 'run' as const }, body, credential };
    const { envelope, digest } = await sealRequest(sealed, keys);
    const agent = openConnections(rig.ca);
    onTestFinished(() => agent.destroy());
    const replay = async (port: number) => {
      const url = `https://127.0.0.1:${port}/v1/envelopes`;
      const response = await request(url, { dispatcher: agent, method: 'POST', body: envelope });
      const { requestId } = claims;
      const read = createFrameOpener({ keys, digest, issuer: instanceId, requestId });
      let last: unknown;
      for await (const line of linesOf(response.body, MAX_ENVELOPE_BYTES)) {
        last = (await read(line)).content;
      }
      return last;
    };
    const times = (count: number, port: number) => Promise.all(Array.from({ length: count }, () => replay(port)));
    const before = [...(await times(MANY, runtime.port)), ...(await times(SOME, runtime.port))];
    await runtime.stop();
    const second = await open();
    const all = [...before, ...(await times(SOME, second.runtime.port))];
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(all[0]).toMatchObject({ type: 'result', value: { finishReason: 'stop' } });
    expect(asked()).toBe(1);
  });

  test('gives the same failure again, and a call with a new id asks again', async () => {
    const { client, instanceId } = await open();
    rig.providers.control.script({ kind: 'error', status: 500 });
    const call = runOn(rig, instanceId);
    await expect(client.run(call)).rejects.toMatchObject({ code: 'model_error' });
    await expect(client.run(call)).rejects.toMatchObject({ code: 'model_error' });
    expect(asked()).toBe(1);
    await client.run({ ...call, requestId: `${call.requestId}-next` });
    expect(asked()).toBe(2);
  });

  test('with another body is a conflict, under way and afterwards; with another credential it is not', async () => {
    const { client, instanceId } = await open();
    rig.providers.control.script({ kind: 'slow', pauseMs: 50 });
    const call = runOn(rig, instanceId);
    const other = { ...call, body: { ...BODY, instructions: 'Something else.' } };
    const first = client.run(call);
    await expect.poll(asked).toBe(1);
    await expect(client.run(other)).rejects.toMatchObject({ code: 'conflict' });
    const done = await first;
    await expect(client.run(other)).rejects.toMatchObject({ code: 'conflict' });
    const renewed = { ...call, credential: { value: 'renewed', account: null } };
    expect(await client.run(renewed)).toEqual(done);
    expect(asked()).toBe(1);
  });

  test('of a runtime that was killed meanwhile has an unknown outcome, and is not repeated', async () => {
    const first = await rig.spawn();
    const client = rig.client(first.port);
    const { instanceId } = await client.hello();
    rig.providers.control.script({ kind: 'hang' });
    const call = runOn(rig, instanceId);
    const lost = client.run(call).catch((error: unknown) => error);
    await expect.poll(asked).toBe(1);
    await first.end('SIGKILL');
    const second = await rig.spawn();
    const next = rig.client(second.port);
    for (let n = 0; n < 3; n += 1) {
      await expect(next.run(call)).rejects.toMatchObject({ code: 'unknown_outcome' });
    }
    expect(asked()).toBe(1);
    expect(await lost).toMatchObject({ name: 'RuntimeUnreachable' });
  });
});

describe('a call ends', () => {
  async function begun(client: RuntimeClient, instanceId: string, changes = {}) {
    rig.providers.control.script({ kind: 'hang' });
    const call = runOn(rig, instanceId, changes);
    const outcome = client.run(call).catch((error: unknown) => error);
    await expect.poll(asked).toBe(1);
    return { call, outcome };
  }

  test('when it is cancelled, and the provider hears of it', async () => {
    const { client, instanceId } = await open();
    const { call, outcome } = await begun(client, instanceId);
    expect(await client.cancel(call.lease, call.requestId)).toBe(true);
    expect(await outcome).toMatchObject({ code: 'cancelled' });
    await expect.poll(() => requests()[0]?.aborted).toBe(true);
    expect(await client.cancel(call.lease, call.requestId)).toBe(false);
    await expect(client.run(call)).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('when a higher epoch comes, and nothing of it is stored', async () => {
    const { client, instanceId } = await open();
    const { call, outcome } = await begun(client, instanceId);
    await client.hello({ epoch: 2 });
    expect(await outcome).toMatchObject({ code: 'fenced' });
    await expect.poll(() => requests()[0]?.aborted).toBe(true);
    await expect(client.run(call)).rejects.toMatchObject({ code: 'fenced' });
    const lease = { instanceId, epoch: 2 };
    await expect(client.run({ ...call, lease })).rejects.toMatchObject({ code: 'unknown_outcome' });
    expect(asked()).toBe(1);
  });

  test.runIf(FULL_SIZE)('when its own lease was not renewed while the process stood still', async () => {
    const runtime = await rig.spawn({}, { entry: 'test/runtime/fixtures/short-lease.ts' });
    const client = rig.client(runtime.port, { silenceMs: 120_000 });
    const { instanceId } = await client.hello();
    rig.providers.control.script({ kind: 'slow', pauseMs: 100 });
    const call = runOn(rig, instanceId, { deadline: Date.now() + 300_000 });
    const outcome = client.run(call).catch((error: unknown) => error);
    await expect.poll(asked).toBe(1);
    process.kill(runtime.pid, 'SIGSTOP');
    // The pause is longer than the lease, and the provider has answered by its end.
    await sleep(4_000);
    process.kill(runtime.pid, 'SIGCONT');
    expect(await outcome).toMatchObject({ code: 'fenced' });
    await expect(client.run(call)).rejects.toMatchObject({ code: 'unknown_outcome' });
    expect(asked()).toBe(1);
  });
});

test.runIf(FULL_SIZE)('a caller that is gone for a moment finds its call still under way', async () => {
  const { client, instanceId } = await open();
  rig.providers.control.script({ kind: 'slow', pauseMs: 200 });
  const call = runOn(rig, instanceId);
  const controller = new AbortController();
  const first = client.run({ ...call, signal: controller.signal }).catch((error: unknown) => error);
  await expect.poll(asked).toBe(1);
  controller.abort(new Error('gone'));
  expect(await first).toMatchObject({ message: 'gone' });
  expect(await client.run(call)).toMatchObject({ finishReason: 'stop' });
  expect(asked()).toBe(1);
});

test('calls beyond eight at a time are refused without a record, and each can begin when there is room', async () => {
  const { client, instanceId } = await open();
  rig.providers.control.script(...Array.from({ length: 8 }, () => ({ kind: 'hang' as const })));
  const calls = Array.from({ length: 8 }, () => runOn(rig, instanceId));
  const running = settled(calls.map((call) => client.run(call)));
  await expect.poll(asked).toBe(8);
  const ninth = runOn(rig, instanceId);
  await expect(client.run(ninth)).rejects.toMatchObject({
    name: 'RuntimeUnreachable',
    reason: 'busy',
    retryAfterMs: 2_000,
  });
  // Requests that need no session still get a response.
  expect(await client.hello({ epoch: 1 })).toMatchObject({ instanceId, epoch: 1 });
  for (const { lease, requestId } of calls) expect(await client.cancel(lease, requestId)).toBe(true);
  await running;
  expect(await client.run(ninth)).toMatchObject({ finishReason: 'stop' });
});

test('a provider that is off here, or whose file differs, is not asked', async () => {
  const { client, instanceId } = await open({ MODEL_PROVIDER_A_ENABLED: 'false' });
  await expect(client.run(runOn(rig, instanceId, { provider: 'provider-a' }))).rejects.toMatchObject({
    code: 'provider_disabled',
  });
  const fileHash = 'ab'.repeat(32);
  await expect(client.run(runOn(rig, instanceId, { fileHash }))).rejects.toMatchObject({
    code: 'file_mismatch',
  });
  expect(requests()).toEqual([]);
  const { providers } = await client.hello();
  expect(Object.keys(providers)).toEqual(['provider-b', 'provider-c']);
  expect(providers['provider-c']).toEqual({ fileHash: rig.hash('provider-c') });
});

test('nothing begins without a lease, or under an expired one', async () => {
  const { client, instanceId } = await open();
  const without = callOn(rig, instanceId, { lease: { instanceId, epoch: 0 } });
  await expect(client.verify(without)).rejects.toMatchObject({ code: 'fenced' });
  await client.hello({ epoch: 5 });
  await expect(client.verify(callOn(rig, instanceId))).rejects.toMatchObject({ code: 'fenced' });
  expect(requests()).toEqual([]);
});

test('a runtime that stops lets its calls end, takes no others and exits', async () => {
  const runtime = await rig.spawn();
  const client = rig.client(runtime.port);
  const { instanceId } = await client.hello();
  rig.providers.control.script({ kind: 'slow', pauseMs: 300 });
  const running = client.run(runOn(rig, instanceId));
  await expect.poll(asked).toBe(1);
  const ended = runtime.end('SIGTERM');
  await runtime.until('stopping');
  const refused = await client.run(runOn(rig, instanceId)).catch((error: unknown) => error);
  expect(refused).toMatchObject({ reason: expect.stringMatching(/^(busy|no_connection)$/) });
  expect(await running).toMatchObject({ finishReason: 'stop' });
  expect(await ended).toBe(0);
  expect(asked()).toBe(1);
});

test('no credential, prompt or response is in a log, in the state or in an error, nor could be in a core file', async () => {
  const canaries = {
    key: `canary-key-${randomUUID()}`,
    prompt: `canary-prompt-${randomUUID()}`,
    answer: `canary-answer-${randomUUID()}`,
    error: `canary-error-${randomUUID()}`,
  };
  rig.providers.control.credentials.add(canaries.key);
  const runtime = await rig.spawn({ LOG_LEVEL: 'trace' });
  const client = rig.client(runtime.port);
  const { instanceId } = await client.hello();
  const credential = { value: canaries.key, account: null };
  const body = { ...BODY, instructions: canaries.prompt };
  rig.providers.control.script(
    { kind: 'text', text: canaries.answer },
    { kind: 'error', status: 500, body: { error: canaries.error } },
    { kind: 'stream-error', error: { type: canaries.error } },
  );
  const result = await client.run(runOn(rig, instanceId, { credential, body }));
  expect(result.text).toBe(canaries.answer);
  if (process.platform === 'linux') {
    const limits = readFileSync(`/proc/${runtime.pid}/limits`, 'utf8');
    expect(limits).toMatch(/^Max core file size +0 +0 /m);
  }
  const failed = await settled([
    client.run(runOn(rig, instanceId, { credential, body })),
    client.run(runOn(rig, instanceId, { credential, body })),
    client.verify(callOn(rig, instanceId, { credential: { ...credential, value: 'wrong' } })),
  ]);
  await client.close();
  await runtime.end();
  const state = `${rig.folder}/state`;
  const kept = readdirSync(state).map((name) => readFileSync(`${state}/${name}`, 'latin1'));
  const everything = [runtime.output(), JSON.stringify(failed), ...kept].join('\n');
  expect(runtime.output()).toContain('"outcome":"ok"');
  for (const [name, value] of Object.entries(canaries)) {
    for (const spelling of [value, Buffer.from(value).toString('base64').slice(0, -4)]) {
      expect([name, everything.includes(spelling)]).toEqual([name, false]);
    }
  }
});
