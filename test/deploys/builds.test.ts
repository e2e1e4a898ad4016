import { randomBytes } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { announceSlots } from '#core/execution/admission/index.ts';
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE, sql, type Sql } from '#lib/database/index.ts';
import { setCurrentBuild, WORKFLOW } from '#lib/temporal/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { keepScheduler } from '#workers/scheduler.ts';
import { createWorkers } from '#workers/worker.ts';
import { EVERY, ago, changeRuns, plantRuns, removeWorkers } from '#test/support/given.ts';

let service: Service;
let key: ApiClient;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService();
  key = await (await signUp(service)).key();
});
afterEach(async () => {
  for (const worker of running.splice(0)) await worker.stop();
  service.gateway.control.reset();
});
afterAll(() => service.close());

/** Starts the workers of one build, with this checkout's code. */
async function startBuild(buildId: string | undefined): Promise<{ stop(): Promise<void> }> {
  const { config, deps } = service;
  const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  const workers = await createWorkers({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    concurrency: 4,
    shutdownGraceSeconds: 1,
    build: buildId === undefined ? undefined : { deploymentName: deployment(), buildId },
    deps: { ...deps, buildId },
  });
  const done = workers.run();
  const worker = {
    async stop() {
      workers.shutdown();
      await done;
      await connection.close();
    },
  };
  running.push(worker);
  return {
    async stop() {
      running.splice(running.indexOf(worker), 1);
      await worker.stop();
    },
  };
}

function deployment(): string {
  return service.config.TEMPORAL_TASK_QUEUE;
}

/** Makes a build current once Temporal knows it, and waits until the build's slots are counted. */
async function makeCurrent(buildId: string | undefined): Promise<void> {
  const attempt = async () => {
    await setCurrentBuild(service.temporal, deployment(), buildId);
    return true;
  };
  await expect.poll(() => attempt().catch(() => false)).toBe(true);
  await expect
    .poll(
      async () =>
        service.deps.database.row`
          select bool_and(takes_runs = (build_id is not distinct from ${buildId ?? null}::text)) as "asWanted",
            bool_or(takes_runs) as some
          from worker_slots where task_queue = ${deployment()} and expires_at > now()
        `,
    )
    .toEqual({ asWanted: true, some: true });
}

async function startRun(): Promise<string> {
  const started = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  return started.data.id;
}

async function isRunning(runId: string): Promise<void> {
  const state = async () => (await key.get(`/v1/runs/${runId}`)).data.state;
  await expect.poll(state).toBe('running');
}

async function buildOf(runId: string): Promise<string | undefined> {
  return service.deps.engine.buildOf(runId);
}

test('runs that are open when builds are introduced go on, on the first build that is made current', async () => {
  service.gateway.control.script({ latencyMs: 60_000 });
  const unversioned = await startBuild(undefined);
  const open = await startRun();
  await isRunning(open);
  await startBuild('one');
  const before = await startRun();
  expect(await runEnded(key, before)).toMatchObject({ state: 'succeeded' });
  expect(await buildOf(before)).toBeUndefined();
  await makeCurrent('one');
  const after = await startRun();
  expect(await runEnded(key, after)).toMatchObject({ state: 'succeeded' });
  expect(await buildOf(after)).toBe('one');
  // The call is cut off, and repeated on the worker where the run continues.
  await unversioned.stop();
  expect(await runEnded(key, open)).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
  expect(await buildOf(open)).toBe('one');
});

test.runIf(FULL_SIZE)(
  'a run that has not begun when its build has no worker any more begins on the current one',
  async () => {
    const first = await startBuild('first');
    await makeCurrent('first');
    service.gateway.control.hold({ times: 4 });
    const busy = await Promise.all(Array.from({ length: 4 }, () => startRun()));
    for (const id of busy) await isRunning(id);
    const waiting = await startRun();
    await expect.poll(() => buildOf(waiting)).toBe('first');
    const stopped = first.stop();
    await startBuild('second');
    await makeCurrent('second');
    await stopped;
    const { database } = service.deps;
    const found = await key.get(`/v1/runs/${waiting}`);
    expect(found.data.state).toBe('queued');
    await changeRuns(database, waiting, { workflowStartedAt: ago('2 minutes'), checkedAt: null });
    await tick(service.deps);
    await service.deps.admission.admit();
    expect(await runEnded(key, waiting)).toMatchObject({ state: 'succeeded' });
    expect(await buildOf(waiting)).toBe('second');
  },
);

test.runIf(FULL_SIZE)(
  'a scheduler without workers of its build is ended, and restarted where there are workers',
  async () => {
    const { temporal, config, deps } = service;
    const workflowId = `scheduler-${randomBytes(6).toString('hex')}`;
    const gone = await startBuild('gone');
    await makeCurrent('gone');
    await temporal.workflow.start(WORKFLOW.scheduler, {
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      workflowId,
      args: [{ intervalMs: 500 }],
    });
    const handle = temporal.workflow.getHandle(workflowId);
    const found = async () => {
      const { raw, runId, status } = await handle.describe();
      const { versioningInfo } = raw.workflowExecutionInfo ?? {};
      const since = optionalTsToMs(raw.pendingWorkflowTask?.originalScheduledTime);
      const waitsMs = since === undefined ? 0 : Date.now() - since;
      return {
        runId,
        status: status.name,
        build: versioningInfo?.deploymentVersion?.buildId,
        waitsMs,
      };
    };
    await expect.poll(found).toMatchObject({ build: 'gone' });
    const before = await found();
    await gone.stop();
    await startBuild('here');
    await makeCurrent('here');
    const settings = { client: temporal, taskQueue: config.TEMPORAL_TASK_QUEUE, log: deps.log };
    const elsewhere = { ...settings, workflowId, everyMs: 100, stuckAfterMs: 500 };
    // A worker that would not get the new scheduler leaves the old one alone.
    const kept = [await keepScheduler({ ...elsewhere, takesRuns: () => false })];
    const waitsLong = async () => (await found()).waitsMs > 3_000;
    await expect.poll(waitsLong).toBe(true);
    expect(await found()).toMatchObject({ status: 'RUNNING', runId: before.runId });
    kept.push(await keepScheduler({ ...settings, workflowId, everyMs: 200, stuckAfterMs: 2_000 }));
    try {
      await expect.poll(found).toMatchObject({
        status: 'RUNNING',
        build: 'here',
        runId: expect.not.stringMatching(before.runId),
      });
      const ended = await temporal.workflow.getHandle(workflowId, before.runId).describe();
      expect(ended.status.name).toBe('TERMINATED');
    } finally {
      for (const each of kept) each.stop();
      await handle.terminate('the test is over');
    }
  },
);

test('room is that of the workers which take new runs, and what other builds carry takes none of it', async () => {
  const { database } = service.deps;
  const taskQueue = deployment();
  await removeWorkers(database, EVERY);
  const slots = { taskQueue, slots: 2 };
  await announceSlots(database, { ...slots, workerId: 'old', buildId: 'old', takesRuns: false });
  const waiting = await startRun();
  expect((await key.get(`/v1/runs/${waiting}`)).data.waitingFor).toBe('worker');
  await plantRuns(database, await createRoutine(key), 5, {
    state: 'running',
    admittedAt: AT_ONCE,
    startedAt: AT_ONCE,
    workflowStartedAt: AT_ONCE,
    buildId: 'old',
  });
  await announceSlots(database, { ...slots, workerId: 'new', buildId: 'new', takesRuns: true });
  const admitted = async () => {
    const found = await database.row<{
      count: number;
    }>`select count(*) as count from runs where state = 'queued' and admitted_at is not null`;
    return found?.count;
  };
  for (let each = 0; each < 4; each += 1) await startRun();
  await service.deps.admission.admit();
  expect(await admitted()).toBe(3);
  await changeRuns(database, { buildId: 'old' }, { buildId: 'new' });
  const letIn = { state: 'queued', admittedAt: (at: Sql) => sql`${at} is not null` };
  await changeRuns(database, letIn, { state: 'succeeded' });
  await service.deps.admission.admit();
  expect(await admitted()).toBe(0);
});
