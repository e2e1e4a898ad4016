import { afterAll, beforeAll, expect, test } from 'vitest';
import { admitRuns } from '#core/execution/admission/admit.ts';
import { announceSlots } from '#core/execution/admission/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { EVERY, changeRuns, claimedRun, removeWorkers } from '#test/support/given.ts';
import { modelOn, startWorld, type World } from './world.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

/** Makes claimed runs that wait for admission. */
async function waitingOn(connectionId: string | undefined, count: number): Promise<string[]> {
  const fields = connectionId === undefined ? {} : { model: modelOn('provider-c', connectionId) };
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await claimedRun(world.service, world.key, fields)).runId);
  }
  return ids;
}

async function admit(runsAtATimeOfAccounts: Record<string, number>, limit = 50) {
  const { database, admission } = world.service.deps;
  const rule = { ...admission.rule, runsAtATimeOfAccounts };
  await announceSlots(database, { workerId: 'w', taskQueue: rule.taskQueue, slots: 100 });
  return admitRuns(database, rule, limit).then((runs) => runs.map(({ id }) => id));
}

async function end(ids: readonly string[]): Promise<void> {
  await changeRuns(world.service.deps.database, ids, { state: 'succeeded', finishedAt: AT_ONCE });
}

test('runs of one account are let in as its provider allows, and no other run waits behind them', async () => {
  const [busy, other] = [await world.account('provider-c'), await world.account('provider-c')];
  const onBusy = await waitingOn(busy, 5);
  const onOther = await waitingOn(other, 2);
  const onGateway = await waitingOn(undefined, 3);

  const first = await admit({ 'provider-c': 2 });
  expect(first.toSorted()).toEqual([...onBusy.slice(0, 2), ...onOther, ...onGateway].toSorted());
  expect(await admit({ 'provider-c': 2 })).toEqual([]);
  const waits = await world.key.get(`/v1/runs/${onBusy[2]}`);
  expect(waits.data).toMatchObject({ state: 'queued', waitingFor: 'account' });

  await end(onBusy.slice(0, 1));
  expect(await admit({ 'provider-c': 2 })).toEqual(onBusy.slice(2, 3));
  // If the provider's file states no number, an account has one run at a time.
  await end(onBusy.slice(1, 3));
  expect(await admit({})).toEqual(onBusy.slice(3, 4));
});

test.runIf(FULL_SIZE)('few places go to others when the oldest runs use a full account', async () => {
  const { database } = world.service.deps;
  await changeRuns(database, EVERY, { state: 'succeeded' });
  // Without workers, the ticks that claim the runs cannot admit them.
  await removeWorkers(database, EVERY);
  const busy = await world.account('provider-c');
  const onBusy = await waitingOn(busy, 4);
  const onGateway = await waitingOn(undefined, 2);
  expect(await admit({ 'provider-c': 1 }, 2)).toEqual(onBusy.slice(0, 1));
  // Runs that are admitted together have no order.
  const second = await admit({ 'provider-c': 1 }, 2);
  expect(second.toSorted()).toEqual(onGateway);
});
