import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { alertExpressions, dashboardExpressions, metricsIn } from '#test/core/upkeep/observability/expressions.ts';
import { parseSamples, total } from '#test/core/upkeep/observability/scrape.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';

let service: Service;
let key: ApiClient;
let workers: WorkerProcesses;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await workers.close();
  await service.close();
});

function chats() {
  return service.gateway.control.requests().filter(({ path }) => path.endsWith('/chat/completions'));
}

test.runIf(FULL_SIZE)(
  'a worker that is told to stop lets the model call under way finish, takes nothing new, and ends well',
  async () => {
    const worker = await workers.start();
    service.gateway.control.reset();
    const release = service.gateway.control.hold();
    const first = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
    while (chats().length === 0) await sleep(25);
    const ended = worker.end('SIGTERM');
    const announced = () => service.deps.database.rows`select slots from worker_slots where expires_at > now()`;
    await expect.poll(announced).toEqual([]);
    const second = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
    release();
    expect(await ended).toBe(0);
    const run = await runEnded(key, first.data.id);
    expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
    expect(chats()).toHaveLength(1);
    expect(chats()[0]?.aborted).toBe(false);

    // A run that was started in the meantime waits for the next worker and is not lost.
    expect((await key.get(`/v1/runs/${second.data.id}`)).data.state).toBe('queued');
    await workers.start();
    expect(await runEnded(key, second.data.id)).toMatchObject({ state: 'succeeded' });
  },
);

test.runIf(FULL_SIZE)(
  'a call that outlives the grace is cut off, and another worker makes the step again',
  async () => {
    await workers.stop();
    const worker = await workers.start({ WORKER_SHUTDOWN_GRACE_SECONDS: '1' });
    service.gateway.control.reset();
    service.gateway.control.script({ behaviour: { kind: 'hang' } });
    const started = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
    while (chats().length === 0) await sleep(25);
    expect(await worker.end('SIGTERM')).toBe(0);
    await workers.start();
    const run = await runEnded(key, started.data.id);
    expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
    expect(run.steps).toHaveLength(1);
  },
);

test('a worker serves its own metrics and those of its Temporal slots, each on its private port', async () => {
  await workers.stop();
  const [own, slots] = [await freePort(), await freePort()];
  const worker = await workers.start({
    METRICS_PORT: String(own),
    TEMPORAL_METRICS_PORT: String(slots),
    WORKER_CONCURRENCY: '7',
    WORKER_WORKFLOW_CONCURRENCY: '5',
    WORKER_MAX_CACHED_WORKFLOWS: '50',
  });
  const run = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  await runEnded(key, run.data.id);
  const scrape = async (port: number) => parseSamples(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  const mine = await scrape(own);
  const temporal = await scrape(slots);
  // Names of other libraries' metrics are compared with the metrics that they really serve.
  const served = new Set([...mine, ...temporal].map(({ name }) => name));
  expect(served).toContain('ras_runs_ended_total');
  const asked = [...(await dashboardExpressions()), ...(await alertExpressions())].flatMap(metricsIn);
  const foreign = asked.filter((name) => !name.startsWith('ras_'));
  expect(foreign.length).toBeGreaterThan(5);
  expect(foreign.filter((name) => !served.has(name))).toEqual([]);
  const queue = service.config.TEMPORAL_TASK_QUEUE;
  const available = async (type: string) =>
    total(await scrape(slots), 'temporal_worker_task_slots_available', {
      task_queue: queue,
      worker_type: type,
    });
  // The run ends in Postgres a moment before its workflow ends.
  await expect.poll(() => available('ActivityWorker')).toBe(7);
  await expect.poll(() => available('WorkflowWorker')).toBe(5);
  expect(await worker.end()).toBe(0);
  await expect(fetch(`http://127.0.0.1:${own}/metrics`)).rejects.toThrow();
});

test('a worker that finds no Temporal waits for it, says so, and starts when it is there', async () => {
  await workers.stop();
  const proxy = await startTcpProxy(service.config.TEMPORAL_ADDRESS);
  await proxy.cut();
  try {
    const worker = workers.launch({ TEMPORAL_ADDRESS: proxy.address });
    await worker.until('Temporal cannot be reached');
    await proxy.mend();
    await worker.until('worker started');
    await workers.stop();
  } finally {
    await proxy.close();
  }
});

test.runIf(FULL_SIZE)(
  'a worker whose start breaks off because Temporal goes away waits for it and starts when it is back',
  async () => {
    await workers.stop();
    const proxy = await startTcpProxy(service.config.TEMPORAL_ADDRESS);
    const slots = await freePort();
    try {
      // The Temporal workers open the first connection. The second is opened afterwards, to start the scheduler.
      const cut = proxy.cutAtConnection(2);
      const worker = workers.launch({
        TEMPORAL_ADDRESS: proxy.address,
        TEMPORAL_METRICS_PORT: String(slots),
      });
      await cut;
      await worker.until('Temporal cannot be reached');
      await proxy.mend();
      await worker.until('worker started');
      const run = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
      expect(await runEnded(key, run.data.id)).toMatchObject({ state: 'succeeded' });
      // Temporal's native half was restarted, with its metrics.
      expect((await fetch(`http://127.0.0.1:${slots}/metrics`)).status).toBe(200);
      expect(await worker.end('SIGTERM')).toBe(0);
      expect(worker.output()).toContain('worker stopped');
    } finally {
      await proxy.close();
    }
  },
);

test.runIf(FULL_SIZE)('a worker that waits for Temporal ends at once when it is told to', async () => {
  const worker = workers.launch({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
  await worker.until('Temporal cannot be reached');
  expect(await worker.end('SIGTERM')).toBe(0);
  expect(worker.output()).toContain('worker stopped');
});

test.runIf(FULL_SIZE)('a namespace that does not exist ends the worker, which says so', async () => {
  const worker = workers.launch({ TEMPORAL_NAMESPACE: 'no-such-namespace' });
  await worker.until('worker failed');
  expect(await worker.end('SIGTERM')).toBe(1);
  expect(worker.output()).toContain('Namespace no-such-namespace is not found');
});
