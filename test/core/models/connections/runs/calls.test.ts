import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endCall, issueCall, endOpenCalls } from '#core/models/calls/index.ts';
import { waitUntil } from '#core/models/connections/index.ts';
import { takeRuntimeLease } from '#core/models/providers/runtime.ts';
import { sql } from '#lib/database/index.ts';
import { EVERY, ago, changeAccounts, changeRuntimeLease, claimedRun } from '#test/support/given.ts';
import { modelOn, startWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await takeRuntimeLease(world.service.deps.database, { instanceId: 'one', seenEpoch: 0 });
});
afterAll(() => world?.close());

/** Makes a run on an account of its own, and the order of its call. */
async function orderOn(connectionId: string) {
  const model = modelOn('provider-c', connectionId);
  const { runId } = await claimedRun(world.service, world.key, { model });
  return {
    connection: { id: connectionId, projectId: world.ada.projectId },
    runId,
    step: 0,
    credentialVersion: 1,
    concurrency: 1,
    deadline: Date.now() + 60_000,
    wanted: sql`true`,
  };
}

function issue(order: Awaited<ReturnType<typeof orderOn>>) {
  const { database, modelProviders } = world.service.deps;
  return issueCall(database, modelProviders, order);
}

describe('of calls on one account', () => {
  test('one is issued at a time, however many ask at once', async () => {
    const connectionId = await world.account('provider-c');
    const orders = await Promise.all(Array.from({ length: 8 }, () => orderOn(connectionId)));
    const issued = await Promise.all(orders.map((order) => issue(order)));
    const kinds = issued.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual([...Array.from({ length: 7 }, () => 'busy'), 'issued']);
  });

  test('as many are issued as the provider file allows', async () => {
    const connectionId = await world.account('provider-c');
    const orders = await Promise.all(Array.from({ length: 5 }, () => orderOn(connectionId)));
    const issued = await Promise.all(orders.map((order) => issue({ ...order, concurrency: 3 })));
    expect(issued.filter(({ kind }) => kind === 'issued')).toHaveLength(3);
  });
});

test('a step keeps its request id until an outcome is recorded, and then gets the next', async () => {
  const { database } = world.service.deps;
  const order = await orderOn(await world.account('provider-c'));
  const call = { requestId: `${order.runId}/0/0`, lease: { instanceId: 'one', epoch: 1 } };
  expect(await issue(order)).toEqual({ kind: 'issued', call });
  expect(await issue(order)).toEqual({ kind: 'issued', call });
  await endCall(database, call, 'unknown_outcome', 'unknown_outcome');
  expect(await issue(order)).toMatchObject({ call: { requestId: `${order.runId}/0/1` } });
  expect(await world.calls(order.runId)).toMatchObject([
    { state: 'unknown_outcome', failure: 'unknown_outcome' },
    { state: 'issued', failure: null },
  ]);
});

test('none is issued for a step that awaits no response, but one that is out goes on', async () => {
  const order = await orderOn(await world.account('provider-c'));
  expect(await issue({ ...order, wanted: sql`false` })).toEqual({ kind: 'unwanted' });
  expect(await world.calls(order.runId)).toEqual([]);
  await issue(order);
  expect(await issue({ ...order, wanted: sql`false` })).toMatchObject({ kind: 'issued' });
});

test('none is issued on an account that may not be used', async () => {
  const { database } = world.service.deps;
  const connectionId = await world.account('provider-c');
  const order = await orderOn(connectionId);
  const foreign = { ...order, connection: { ...order.connection, projectId: 'prj_other' } };
  expect(await issue(foreign)).toEqual({ kind: 'unusable' });
  await changeAccounts(database, connectionId, { state: 'needs_reauthorization' });
  expect(await issue(order)).toEqual({ kind: 'unusable' });
});

test('none is issued for an owner who is no longer a member', async () => {
  const order = await orderOn(await world.account('provider-c'));
  await changeAccounts(world.service.deps.database, order.connection.id, {
    ownerId: 'another-person',
  });
  expect(await issue(order)).toEqual({ kind: 'unusable' });
});

test('none is issued before the allowance is there again, but one that is out goes on', async () => {
  const { database } = world.service.deps;
  const connectionId = await world.account('provider-c');
  const [out, next] = [await orderOn(connectionId), await orderOn(connectionId)];
  await issue({ ...out, concurrency: 2 });
  const until = new Date(Date.now() + 3_600_000);
  await waitUntil(database, out.connection, until);
  expect(await issue({ ...next, concurrency: 2 })).toEqual({ kind: 'limited', until });
  expect(await issue({ ...out, concurrency: 2 })).toMatchObject({ kind: 'issued' });
});

test('an account that is taken away ends its calls, which frees nothing for a later attempt', async () => {
  const { database } = world.service.deps;
  const order = await orderOn(await world.account('provider-c'));
  await issue(order);
  const ended = await endOpenCalls(database, order.connection, 'revoked');
  expect(ended).toEqual([{ requestId: `${order.runId}/0/0`, lease: { instanceId: 'one', epoch: 1 } }]);
  expect(await world.calls(order.runId)).toMatchObject([{ state: 'unknown_outcome', failure: 'revoked' }]);
});

test('none is issued without a lease on the runtime, and the next lease has a higher epoch', async () => {
  const { database } = world.service.deps;
  const order = await orderOn(await world.account('provider-c'));
  await changeRuntimeLease(database, EVERY, { expiresAt: ago('1 second') });
  expect(await issue(order)).toEqual({ kind: 'unleased' });
  const taken = await takeRuntimeLease(database, { instanceId: 'two', seenEpoch: 0 });
  expect(taken).toEqual({ instanceId: 'two', epoch: 2 });
  expect(await issue(order)).toMatchObject({ call: { lease: { instanceId: 'two', epoch: 2 } } });
});
