import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { StartableDelivery } from '#core/foundation/engine/index.ts';
import { announceSlots, withdrawSlots } from '#core/execution/admission/index.ts';
import { recordEnd } from '#core/execution/runs/end-run.ts';
import { success } from '#core/execution/run-states/states.ts';
import { claimAttempt } from '#core/delivery/webhooks/attempt.ts';
import { claimDueDeliveries } from '#core/delivery/webhooks/start.ts';
import { enqueueDelivery, listDeliveries, redeliver, startDueDeliveries } from '#core/delivery/webhooks/index.ts';
import { transaction, withStatements } from '#lib/database/index.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { EVERY, ago, changeDeliveries, changeRuns, removeAttempts, removeDeliveries } from '#test/support/given.ts';
import { dyingProcess } from '#test/support/end-deps.ts';
import { startWorld, type Routine, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());
beforeEach(async () => {
  await removeAttempts(world.deps.database, EVERY);
  await removeDeliveries(world.deps.database, EVERY);
});

function answering(status: number) {
  return startReceiver((_, response) => {
    response.writeHead(status).end();
  });
}

function claim(limit?: number) {
  return world.claim(limit);
}

async function queueMany(routine: Routine, count: number): Promise<StartableDelivery[]> {
  const queued: StartableDelivery[] = [];
  for (let index = 0; index < count; index++) {
    queued.push(await world.queue(routine, 'http://unused/'));
  }
  return queued;
}

async function endedRun(webhookUrl: string | null) {
  const routine = await world.createRoutine(webhookUrl);
  const run = await world.createRun(routine);
  await changeRuns(world.deps.database, run.id, { state: 'running', finishedAt: null });
  return { routine, run };
}

function allQueued() {
  return world.deps.database.rows`select run_id as "runId", event_type as "eventType", state from webhook_deliveries`;
}

async function redeliverIn(routine: Routine, deliveryId: string) {
  const [found] = await world.deps.database.rows<{
    runId: string;
  }>`select run_id as "runId" from webhook_deliveries where id = ${deliveryId}`;
  const { projectId } = routine;
  return redeliver(world.deps, { projectId, runId: found!.runId, deliveryId });
}

describe('the end of a run', () => {
  const ending = success('ok');

  test('queues its event in the same transaction, once', async () => {
    const { run } = await endedRun('https://example.com/hook');
    const undone = transaction(world.deps.database, async (tx) => {
      await recordEnd(dyingProcess(world.deps.database), tx, run.id, ending);
      throw new Error('the step could not be recorded');
    });
    await expect(undone).rejects.toThrow('could not be recorded');
    expect(await allQueued()).toEqual([]);

    const nudges: string[] = [];
    const dying = dyingProcess(world.deps.database);
    const deps = { ...dying, work: { ...dying.work, nudge: (name: string) => void nudges.push(name) } };
    const end = () => transaction(world.deps.database, (tx) => recordEnd(deps, tx, run.id, ending));
    expect(await end()).toMatchObject({ state: 'succeeded' });
    expect(nudges).toEqual(['deliveries']);
    expect(await end()).toBeUndefined();
    expect(await allQueued()).toEqual([{ runId: run.id, eventType: 'run.succeeded', state: 'pending' }]);
  });

  test('queues nothing without a webhook, and asks the database nothing for it', async () => {
    const { run } = await endedRun(null);
    await transaction(world.deps.database, (tx) => recordEnd(dyingProcess(world.deps.database), tx, run.id, ending));
    expect(await allQueued()).toEqual([]);
    const query = vi.fn<() => never>();
    for (const webhook of [
      { webhookUrl: null, webhookFailedAt: null },
      { webhookUrl: 'https://example.com/', webhookFailedAt: new Date() },
    ]) {
      await enqueueDelivery(world.deps, withStatements({ query }), { ...run, ...webhook });
    }
    expect(query).not.toHaveBeenCalled();
  });
});

describe('ticks', () => {
  test('that overlap share the due deliveries, so that each is sent once', async () => {
    const routine = await world.createRoutine('http://unused/');
    const queued = await queueMany(routine, 60);
    await Promise.all(queued.map(({ id }) => world.passTime(id)));
    const batches = await Promise.all(Array.from({ length: 12 }, () => claim(10)));
    const rest = await claim();
    const claimed = [...batches.flat(), ...rest];
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(queued.map(({ id }) => id).toSorted());
    expect(claimed).toContainEqual(queued[0]);
  });

  test('take the oldest first, in batches', async () => {
    const routine = await world.createRoutine('http://unused/');
    const queued = await queueMany(routine, 5);
    for (const [age, { id }] of queued.entries()) {
      await changeDeliveries(world.deps.database, id, {
        nextAttemptAt: ago(`${age + 1} minutes`),
        claimedUntil: null,
      });
    }
    const [oldest, older, ...others] = queued.toReversed();
    const first = await claim(2);
    expect(first.map(({ id }) => id).toSorted()).toEqual([oldest!.id, older!.id].toSorted());
    expect(await claim()).toHaveLength(others.length);
  });

  test('start a new delivery once, and once more when that start has failed', async () => {
    const routine = await world.createRoutine('http://unused/');
    const delivery = await world.queue(routine, 'http://unused/');
    expect(await claim()).toEqual([delivery]);
    expect(await claim()).toEqual([]);
    await world.passTime(delivery.id);
    expect(await claim()).toEqual([delivery]);
  });

  test('start as many as live workers have slots, at most half for one organization and a quarter for one host', async () => {
    const { database } = world.deps;
    const [one, other] = [await world.createRoutine('http://unused/'), await world.createRoutine('http://unused/')];
    const hosts = ['a.example', 'b.example', 'c.example'];
    for (const host of hosts) {
      for (let index = 0; index < 10; index++) await world.queue(one, `https://${host}/hook`);
    }
    const late = await world.queue(other, 'https://a.example/hook');
    await announceSlots(database, { workerId: 'w', taskQueue: 'shares', slots: 8 });
    const claimed = await claimDueDeliveries(database, 'shares', 100);
    expect(claimed).toContainEqual(late);
    expect(claimed).toHaveLength(1 + 4);
    // Both starting and sending attempts count.
    await Promise.all(claimed.map(({ id }) => claimAttempt(database, id)));
    expect(await claimDueDeliveries(database, 'shares', 100)).toEqual([]);
    const byHost = await database.rows<{ host: string; count: number }>`
      select host, count(*)::integer as count from webhook_deliveries
      where state = 'sending' and project_id = ${one.projectId} group by host order by host
    `;
    expect(byHost.reduce((sum, { count }) => sum + count, 0)).toBe(4);
    expect(Math.max(...byHost.map(({ count }) => count))).toBe(2);
    await withdrawSlots(database, 'w');
    await world.passTime(late.id);
    expect(await claimDueDeliveries(database, 'shares', 100)).toEqual([]);
  });

  test('do not start what is not due yet, nor what is over', async () => {
    const [failing, fine] = [await answering(500), await answering(200)];
    const waiting = await world.queue(await world.createRoutine(failing.origin), failing.origin);
    const done = await world.queue(await world.createRoutine(fine.origin), fine.origin);
    await world.attempt(waiting);
    await world.attempt(done);
    expect(await claim()).toEqual([]);
    for (const { id } of [waiting, done]) await world.passTime(id);
    expect(await claim()).toEqual([{ ...waiting, attempt: 2 }]);
  });

  test('a delivery claimed by a tick is still sent by the attempt that the tick started', async () => {
    const receiver = await answering(200);
    const delivery = await world.queue(await world.createRoutine(receiver.origin), receiver.origin);
    await world.passTime(delivery.id);
    await claim();
    expect(await world.attempt(delivery)).toBe('delivered');
  });
});

describe('redelivery', () => {
  test('sends again, under the same id, what was delivered', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    await world.attempt(delivery);
    await redeliverIn(routine, delivery.id);
    expect(await world.read(delivery)).toMatchObject({ state: 'pending', finished: false });
    expect(await world.attempt(delivery)).toBe('delivered');
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[1]).toMatchObject({
      body: receiver.received[0]!.body,
      headers: { 'webhook-id': delivery.id },
    });
  });

  test('of a delivery that was given up starts the whole retry schedule again, and keeps the earlier attempts', async () => {
    const receiver = await answering(500);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    const exhaust = async () => {
      for (let attempt = 1; attempt < 10; attempt++) {
        expect(await world.attempt(delivery)).toBe('pending');
        await world.passTime(delivery.id);
      }
      expect(await world.attempt(delivery)).toBe('failed');
    };
    await exhaust();
    await redeliverIn(routine, delivery.id);
    expect(await world.read(delivery)).toMatchObject({ reason: null, finished: false });
    await exhaust();
    expect(await world.read(delivery)).toMatchObject({ attempts: 20, reason: 'retries_exhausted' });
  });

  test('of what is being sent does not send it twice at once, but gives it a new schedule', async () => {
    const answer = Promise.withResolvers<void>();
    const receiver = await startReceiver(async (_, response) => {
      await answer.promise;
      response.writeHead(500).end();
    });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    await changeDeliveries(world.deps.database, delivery.id, { attemptCount: 9 });
    const last = world.attempt(delivery);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 10_000);
    await redeliverIn(routine, delivery.id);
    expect(await world.attempt(delivery)).toBe('not_due');
    answer.resolve();
    await last;
    expect(await world.read(delivery)).toMatchObject({ state: 'pending', attempts: 10 });
    expect(receiver.received).toHaveLength(1);
  });

  test('knows only deliveries of that run in that project', async () => {
    const [routine, foreign] = [
      await world.createRoutine('http://unused/'),
      await world.createRoutine('http://unused/'),
    ];
    const run = await world.createRun(routine);
    const other = await world.queue(routine, 'http://unused/');
    const { projectId } = routine;
    const ask = (input: { projectId: string; runId: string; deliveryId: string }) => redeliver(world.deps, input);
    await expect(ask({ projectId, runId: run.id, deliveryId: other.id })).rejects.toMatchObject({
      code: 'delivery_not_found',
    });
    await expect(ask({ projectId, runId: 'run_unknown', deliveryId: other.id })).rejects.toMatchObject({
      code: 'run_not_found',
    });
    await expect(redeliverIn(foreign, other.id)).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

test('a run lists its deliveries with every attempt, and when the next one comes', async () => {
  const receiver = await answering(500);
  const routine = await world.createRoutine(receiver.origin);
  const run = await world.createRun(routine);
  expect(await listDeliveries(world.deps.database, run.id)).toEqual([]);
  await enqueueDelivery(world.deps, world.deps.database, {
    ...run,
    webhookUrl: receiver.origin,
    webhookFailedAt: null,
  });
  const [delivery] = await listDeliveries(world.deps.database, run.id);
  await world.attempt(delivery!);
  const attempt = {
    index: 1,
    startedAt: expect.any(Date),
    durationMs: expect.any(Number),
    status: 500,
    error: null,
    responseExcerpt: '',
  };
  expect(await listDeliveries(world.deps.database, run.id)).toEqual([
    {
      id: delivery!.id,
      eventType: 'run.succeeded',
      state: 'pending',
      reason: null,
      nextAttemptAt: expect.any(Date),
      createdAt: expect.any(Date),
      finishedAt: null,
      attempts: [attempt],
    },
  ]);
});

test('a start that fails is logged and left to a tick', async () => {
  const routine = await world.createRoutine('http://unused/');
  const delivery = await world.queue(routine, 'http://unused/');
  const taskQueue = 'kicked';
  await announceSlots(world.deps.database, { workerId: 'k', taskQueue, slots: 10 });
  const started: StartableDelivery[] = [];
  const deps = { ...world.deps, admission: { rule: { taskQueue } } };
  const away = { startDelivery: () => Promise.reject(new Error('Temporal is away')) };
  const there = {
    startDelivery: (due: StartableDelivery) => {
      started.push(due);
      return Promise.resolve();
    },
  };
  expect(await startDueDeliveries({ ...deps, engine: away })).toBe(0);
  expect(world.logged()).toContain(delivery.id);
  expect(await startDueDeliveries({ ...deps, engine: there })).toBe(0);
  await world.passTime(delivery.id);
  expect(await startDueDeliveries({ ...deps, engine: there })).toBe(1);
  expect(started).toEqual([delivery]);
});
