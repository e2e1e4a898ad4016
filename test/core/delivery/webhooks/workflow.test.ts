import { Client, Connection } from '@temporalio/client';
import { startDueDeliveries } from '#core/delivery/webhooks/index.ts';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createWebhookActivities } from '#activities/activities.ts';
import { createNudges } from '#core/scheduling/index.ts';
import { createEngine, type Engine, type StartableDelivery } from '#core/foundation/engine/index.ts';
import { createMetrics } from '#lib/metrics/index.ts';
import { webhookTaskQueue } from '#lib/task-queues.ts';
import { workflowBundle } from '#workers/workflow-bundle.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { startWorld, type World } from './world.ts';
import { installRuntimeOnce } from '#test/support/service.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const TASK_QUEUE = 'webhook-workflow-test';
const SLOTS = 3;
const TIMEOUT_MS = 3_000;

const address = inject('temporalAddress');

let world: World;
let client: Client;
let engine: Engine;
const cleanUp: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  world = await startWorld();
  client = new Client({ connection: await Connection.connect({ address }) });
  engine = createEngine(client, TASK_QUEUE);
  await startWorkers();
});

afterAll(async () => {
  for (const close of cleanUp.toReversed()) await close();
  await client?.connection.close();
  await world?.stop();
});

/** Starts workers: workflows on the main queue, attempts on a queue of their own. */
async function startWorkers(): Promise<void> {
  installRuntimeOnce();
  const connection = await NativeConnection.connect({ address });
  cleanUp.push(() => connection.close());
  const workers = [
    await Worker.create({
      connection,
      taskQueue: TASK_QUEUE,
      workflowBundle: await workflowBundle(),
    }),
    await Worker.create({
      connection,
      taskQueue: webhookTaskQueue(TASK_QUEUE),
      activities: createWebhookActivities({
        ...world.deps,
        work: createNudges(world.deps.log, () =>
          startDueDeliveries({ ...world.deps, engine, admission: { rule: { taskQueue: TASK_QUEUE } } }),
        ),
        webhookTimeoutMs: TIMEOUT_MS,
        metrics: createMetrics().metrics,
      }),
      maxConcurrentActivityTaskExecutions: SLOTS,
    }),
  ];
  for (const worker of workers) {
    const running = worker.run();
    cleanUp.push(async () => {
      worker.shutdown();
      await running;
    });
  }
}

async function deliver(delivery: StartableDelivery): Promise<unknown> {
  await engine.startDelivery(delivery);
  return client.workflow.getHandle(`${delivery.id}-${delivery.attempt}`).result();
}

test('a delivery is one workflow with one activity, and only its id crosses Temporal', async () => {
  const receiver = await startReceiver((_, response) => response.end('canary-answer'));
  const routine = await world.createRoutine(`${receiver.origin}/canary-path`);
  const delivery = await world.queue(routine, receiver.origin, { result: 'canary-result' });
  expect(await deliver(delivery)).toBe('delivered');
  // A second start by a tick changes nothing.
  expect(await deliver(delivery)).toBe('not_due');
  expect(receiver.received).toHaveLength(1);

  const { events } = await client.workflow.getHandle(`${delivery.id}-${delivery.attempt}`).fetchHistory();
  const history = JSON.stringify(events, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(history).toContain(delivery.id);
  expect(history).not.toMatch(/canary|whsec|127\.0\.0\.1:/);
  const scheduled = events?.filter((event) => event.activityTaskScheduledEventAttributes != null);
  expect(scheduled).toHaveLength(1);
});

test('a workflow never fails because of the receiver', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(410).end();
  });
  const refusing = await world.createRoutine('http://127.0.0.1:9/');
  const gone = await world.createRoutine(receiver.origin);
  expect(await deliver(await world.queue(refusing, 'http://unused/'))).toBe('pending');
  expect(await deliver(await world.queue(gone, 'http://unused/'))).toBe('failed');
});

test.runIf(FULL_SIZE)('receivers that hang fill the slots of deliveries only for their own time', async () => {
  let [open, mostOpen] = [0, 0];
  const hanging = await startReceiver((_, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => (open -= 1));
  });
  const quick = await startReceiver((_, response) => response.end());
  const stuck = await world.createRoutine(hanging.origin);
  const held: Promise<unknown>[] = [];
  for (let index = 0; index < 2 * SLOTS; index++) {
    held.push(deliver(await world.queue(stuck, 'http://unused/')));
  }
  await expect.poll(() => open).toBe(SLOTS);
  const delivery = await world.queue(await world.createRoutine(quick.origin), 'http://unused/');
  expect(await deliver(delivery)).toBe('delivered');
  expect(new Set(await Promise.all(held))).toEqual(new Set(['pending']));
  expect(hanging.received).toHaveLength(2 * SLOTS);
  expect(mostOpen).toBe(SLOTS);
});
