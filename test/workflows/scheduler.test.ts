import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TASK_QUEUE } from '#lib/task-queues.ts';
import { SCHEDULER_WORKFLOW_ID, WORKFLOW } from '#lib/temporal/index.ts';
import { occurrencesOf, plantRoutine } from '#test/core/scheduling/planted.ts';
import { startService, type Service } from '#test/support/service.ts';
import { keepScheduler } from '#workers/scheduler.ts';

let service: Service;
let workflowId: string;

beforeAll(async () => {
  service = await startService({ worker: true });
});
afterAll(() => service.close());
afterEach(async () => {
  await service.temporal.workflow.getHandle(workflowId).terminate('the test is over');
});

/** Starts a scheduler under an id of its own, because other tests share the namespace. */
async function startScheduler(input: { intervalMs: number; ticksPerRun: number }) {
  workflowId = `scheduler-${randomBytes(6).toString('hex')}`;
  return service.temporal.workflow.start(WORKFLOW.scheduler, {
    taskQueue: service.config.TEMPORAL_TASK_QUEUE,
    workflowId,
    args: [input],
  });
}

function claimedWithin(routineId: string, timeout: number) {
  return expect
    .poll(() => occurrencesOf(service.deps.database, routineId), { timeout, interval: 100 })
    .toMatchObject([{ reason: null }]);
}

test('it ticks at each interval, claims what is due and starts its run', async () => {
  const { database } = service.deps;
  await startScheduler({ intervalMs: 1_000, ticksPerRun: 100 });
  for (let round = 0; round < 2; round += 1) {
    const { id } = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
    await expect.poll(async () => (await occurrencesOf(database, id))[0]?.state).toBe('succeeded');
  }
});

test('it survives ticks that fail', async () => {
  const { database } = service.deps;
  const handle = await startScheduler({ intervalMs: 500, ticksPerRun: 100 });
  await database.run`alter table routines rename to hidden`;
  const failedTicks = async () => {
    const { events } = await handle.fetchHistory();
    return events?.filter((event) => event.activityTaskFailedEventAttributes).length;
  };
  try {
    await expect.poll(failedTicks).toBeGreaterThanOrEqual(2);
  } finally {
    await database.run`alter table hidden rename to routines`;
  }
  const { id } = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
  await claimedWithin(id, 10_000);
});

test('it continues as new after its share of ticks and goes on ticking', async () => {
  const first = await startScheduler({ intervalMs: 500, ticksPerRun: 2 });
  const handle = service.temporal.workflow.getHandle(workflowId);
  await expect.poll(async () => (await handle.describe()).runId).not.toBe(first.firstExecutionRunId);
  const before = service.temporal.workflow.getHandle(workflowId, first.firstExecutionRunId);
  expect((await before.describe()).status.name).toBe('CONTINUED_AS_NEW');
  const { events } = await before.fetchHistory();
  expect(events!.length).toBeLessThan(160);
  const { id } = await plantRoutine(service.deps.database, {
    schedule: '@yearly',
    nextRunAt: new Date(),
  });
  await claimedWithin(id, 10_000);
});

test('each task queue has a scheduler of its own', async () => {
  const { temporal, deps } = service;
  workflowId = SCHEDULER_WORKFLOW_ID;
  const queues = ['first', 'second'].map((name) => `${name}-${randomBytes(6).toString('hex')}`);
  const statusOf = async (id: string) => {
    const { status, taskQueue } = await temporal.workflow.getHandle(id).describe();
    return [status.name, taskQueue];
  };
  const kept = await Promise.all(
    [DEFAULT_TASK_QUEUE, ...queues].map((taskQueue) => keepScheduler({ client: temporal, taskQueue, log: deps.log })),
  );
  try {
    expect(await statusOf(SCHEDULER_WORKFLOW_ID)).toEqual(['RUNNING', DEFAULT_TASK_QUEUE]);
    for (const queue of queues) {
      expect(await statusOf(`scheduler:${queue}`)).toEqual(['RUNNING', queue]);
    }
  } finally {
    for (const each of kept) each.stop();
    for (const queue of queues) {
      await temporal.workflow.getHandle(`scheduler:${queue}`).terminate('the test is over');
    }
  }
});

test('a scheduler that an operator terminates is started again', async () => {
  workflowId = `scheduler-${randomBytes(6).toString('hex')}`;
  const { temporal, config, deps } = service;
  const settings = { client: temporal, taskQueue: config.TEMPORAL_TASK_QUEUE, log: deps.log };
  const kept = [
    await keepScheduler({ ...settings, workflowId, everyMs: 200 }),
    await keepScheduler({ ...settings, workflowId, everyMs: 200 }),
  ];
  try {
    const handle = temporal.workflow.getHandle(workflowId);
    const first = await handle.describe();
    expect(first.status.name).toBe('RUNNING');
    await handle.terminate('by mistake');
    await expect
      .poll(() => handle.describe())
      .toMatchObject({
        status: { name: 'RUNNING' },
        runId: expect.not.stringMatching(first.runId),
      });
  } finally {
    for (const each of kept) each.stop();
  }
});
