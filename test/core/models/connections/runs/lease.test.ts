import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { keepRuntimeLease, type ModelRuntime } from '#core/models/providers/index.ts';
import { createModelRuntime, readRuntimeLease } from '#core/models/providers/runtime.ts';
import { createLog } from '#lib/log.ts';
import type { Runtime } from '#runtime/start.ts';
import { EVERY, ago, changeRuntimeLease, removeRuntimeLease } from '#test/support/given.ts';
import { proves } from '#test/support/proves.ts';
import { startWorld, type World } from './world.ts';

let world: World;
const log = createLog({ level: 'silent', name: 'test' });

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());
beforeEach(() => removeRuntimeLease(world.service.deps.database, EVERY));

function connect(runtime: Runtime): ModelRuntime {
  const client = world.rig.client(runtime.port);
  return createModelRuntime({ database: world.service.deps.database, client, freshMs: 0 });
}

/** Keeps the lease like a worker, only faster, until the test stops it. */
function keep(runtime: ModelRuntime) {
  const { database } = world.service.deps;
  const stopping = new AbortController();
  const kept = keepRuntimeLease({ database, runtime, log, everyMs: 20 }, stopping.signal);
  return async () => {
    stopping.abort();
    await kept;
  };
}

function stored() {
  return readRuntimeLease(world.service.deps.database);
}

/** Lets the lease expire, and changes nothing else. */
function runOut() {
  const { database } = world.service.deps;
  return changeRuntimeLease(database, EVERY, { expiresAt: ago('1 second') });
}

function expiresAt() {
  return world.service.deps.database.row<{ at: Date }>`select expires_at as at from runtime_lease`;
}

test('two workers keep one lease of one runtime, under one epoch', async () => {
  const runtime = await world.rig.start();
  const [first, second] = [connect(runtime), connect(runtime)];
  const stops = [keep(first), keep(second)];
  await expect.poll(stored).toBeDefined();
  const lease = await stored();
  expect(lease?.instanceId).toBe(runtime.instanceId);
  const before = (await expiresAt())?.at.getTime() ?? 0;
  await expect.poll(async () => (await expiresAt())?.at.getTime()).toBeGreaterThan(before + 100);
  expect(await stored()).toEqual(lease);
  expect(await first.client.hello()).toMatchObject({ epoch: lease?.epoch });
  await Promise.all(stops.map((stop) => stop()));
  await runtime.stop();
});

test('one worker of many takes a lease that has run out, under the next epoch', async () => {
  const runtime = await world.rig.start();
  const workers = Array.from({ length: 5 }, () => connect(runtime));
  const leases = await Promise.all(workers.map((worker) => worker.lease()));
  expect(new Set(leases.map((lease) => JSON.stringify(lease))).size).toBe(1);
  await runOut();
  const next = await Promise.all(workers.map((worker) => worker.lease()));
  expect(new Set(next.map(({ epoch }) => epoch))).toEqual(new Set([(leases[0]?.epoch ?? Number.NaN) + 1]));
  await runtime.stop();
});

test(
  'another runtime in the place of the leased one gets nothing until the lease has run out',
  proves('limit.runtime'),
  async () => {
    const first = await world.rig.start();
    const leased = await connect(first).lease();
    const folder = path.join(world.rig.folder, 'another-state');
    const second = await world.rig.start({ MODEL_RUNTIME_STATE_DIR: folder });
    expect(second.instanceId).not.toBe(first.instanceId);
    const other = connect(second);
    const stop = keep(other);
    expect(await other.lease()).toEqual(leased);
    await runOut();
    await expect.poll(async () => (await stored())?.instanceId).toBe(second.instanceId);
    expect((await stored())?.epoch).toBe(leased.epoch + 1);
    await stop();
    await Promise.all([first.stop(), second.stop()]);
  },
);

test('a runtime that has seen higher epochs than the table is leased above them', async () => {
  const runtime = await world.rig.start();
  const worker = connect(runtime);
  await worker.client.hello({ epoch: 70 });
  expect(await worker.lease()).toEqual({ instanceId: runtime.instanceId, epoch: 71 });
  await runtime.stop();
});

test('a runtime that is away leaves the lease to run out', async () => {
  const runtime = await world.rig.start();
  const worker = connect(runtime);
  await worker.lease();
  await runtime.stop();
  const before = (await expiresAt())?.at;
  const stop = keep(worker);
  await stop();
  expect((await expiresAt())?.at).toEqual(before);
  await runOut();
  await expect(worker.lease()).rejects.toMatchObject({ name: 'RuntimeUnreachable' });
});
