import { expect } from 'vitest';
import { announceSlots, withdrawSlots } from '#core/execution/admission/index.ts';
import { expireQueued } from '#core/execution/runs/index.ts';
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { startWorkers } from '#test/support/service.ts';
import { ago, changeRuns } from '#test/support/given.ts';

const test = serviceTest({ own: true });

test('a rehearsal that no worker takes says that it waits for one, as any run does', async ({ key }) => {
  const routineId = await createRoutine(key, {});
  for (const body of [{}, { mode: 'rehearse' }]) {
    const { data: run } = await key.post(`/v1/routines/${routineId}/run`, body);
    const { data } = await key.get(`/v1/runs/${run.id}`);
    expect(data).toMatchObject({ state: 'queued', waitingFor: 'worker' });
  }
});

test('runs that wait longer than their timeout for the only slot succeed all the same', async ({ service, key }) => {
  const release = service.gateway.control.hold();
  const routineId = await createRoutine(key);
  const started = await Promise.all(Array.from({ length: 3 }, () => key.post(`/v1/routines/${routineId}/run`)));
  const waiting = await key.get(`/v1/runs/${started[2]!.data.id}`);
  expect(waiting.data).toMatchObject({ state: 'queued', waitingFor: 'worker' });
  const { timeoutSeconds } = (await key.get(`/v1/routines/${routineId}`)).data.limits;
  await changeRuns(service.deps.database, { routineId }, { createdAt: ago(`${timeoutSeconds + 60} seconds`) });

  const worker = await startWorkers(service.config, service.deps, { concurrency: 1 });
  try {
    const last = await key.post(`/v1/routines/${routineId}/run`);
    // The worker announces its slot a moment after its start.
    const waitingFor = async () => (await key.get(`/v1/runs/${last.data.id}`)).data.waitingFor as string;
    await expect.poll(waitingFor).toBe('slot');
    release();
    const ended = await Promise.all([...started, last].map(({ data }) => runEnded(key, data.id)));
    expect(ended.map(({ state }) => state)).toEqual(Array(4).fill('succeeded'));
    for (const { queuedSeconds } of ended.slice(0, 3)) expect(queuedSeconds).toBeGreaterThan(timeoutSeconds);
    expect(ended.every(({ waitingFor }) => waitingFor === null)).toBe(true);
  } finally {
    service.gateway.control.reset();
    await worker.stop();
  }
});

test('a run that ends lets the next one in at once, and never more than there is room for', async ({
  service,
  key,
}) => {
  service.gateway.control.script({ times: null, latencyMs: 300 });
  const routineId = await createRoutine(key);
  const worker = await startWorkers(service.config, service.deps, { concurrency: 4 });
  try {
    const started = await Promise.all(Array.from({ length: 30 }, () => key.post(`/v1/routines/${routineId}/run`)));
    let most = 0;
    let open = 30;
    while (open > 0) {
      const found = await service.deps.database.row<{ admitted: number; open: number }>`
        select count(*) filter (where admitted_at is not null) as admitted, count(*) as open from runs
        where routine_id = ${routineId} and state in ('queued', 'running')
      `;
      most = Math.max(most, found!.admitted);
      open = found!.open;
    }
    // There are four slots, and one more run is admitted ahead.
    expect(most).toBeLessThanOrEqual(4 + 1);
    for (const { data } of started) {
      expect(await runEnded(key, data.id)).toMatchObject({ state: 'succeeded' });
    }
  } finally {
    service.gateway.control.reset();
    await worker.stop();
  }
});

test('a run that waits too long is skipped and says so, and no webhook is sent', async ({ service, key }) => {
  const routineId = await createRoutine(key, {
    limits: { maxQueueSeconds: 60 },
    webhookUrl: 'http://127.0.0.1:9009/hook',
  });
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const { database } = service.deps;
  await changeRuns(database, run.id, { queueUntil: AT_ONCE });
  const worker = await startWorkers(service.config, service.deps, { concurrency: 1 });
  try {
    await service.deps.admission.admit();
    expect((await key.get(`/v1/runs/${run.id}`)).data.state).toBe('queued');
    expect(await expireQueued(service.deps, new AbortController().signal)).toBe(1);
    expect((await key.get(`/v1/runs/${run.id}`)).data).toMatchObject({
      state: 'skipped',
      reason: 'queue_expired',
      errorMessage: 'The run waited longer than limits.maxQueueSeconds.',
      webhookDeliveries: [],
    });
    expect((await key.get(`/v1/routines/${routineId}`)).data.lastRunAt).toBeNull();
  } finally {
    await worker.stop();
  }
});

test('runs that are started by hand leave a quarter of the places to other organizations', async ({
  service: { deps, config },
  key,
  bobsKey,
}) => {
  const [mine, his] = [await createRoutine(key), await createRoutine(bobsKey)];
  const start = async (client: typeof key, routineId: string): Promise<string> =>
    (await client.post(`/v1/routines/${routineId}/run`)).data.id;
  await bobsKey.post(`/v1/runs/${await start(bobsKey, his)}/cancel`);
  const worker = { workerId: 'planted', taskQueue: config.TEMPORAL_TASK_QUEUE, slots: 4 };
  await announceSlots(deps.database, worker);
  // One organization gets three of five places.
  const ids: string[] = [];
  for (const waitingFor of ['start', 'start', 'start', 'organization_share']) {
    const id = await start(key, mine);
    ids.push(id);
    // A start during another admission does not wait for it; its run is admitted a moment later.
    await expect.poll(async () => (await key.get(`/v1/runs/${id}`)).data.waitingFor).toBe(waitingFor);
  }
  await withdrawSlots(deps.database, worker.workerId);
  for (const id of ids) await key.post(`/v1/runs/${id}/cancel`);
});

test('a run past its deadline whose workflow says nothing is ended by the sweep', async ({ service, key }) => {
  service.gateway.control.script({ latencyMs: 60_000 });
  const routineId = await createRoutine(key);
  const worker = await startWorkers(service.config, service.deps, { concurrency: 1 });
  try {
    const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
    await expect.poll(async () => (await key.get(`/v1/runs/${run.id}`)).data.state).toBe('running');
    await changeRuns(service.deps.database, run.id, { startedAt: ago('18 minutes') });
    await tick(service.deps);
    expect((await key.get(`/v1/runs/${run.id}`)).data).toMatchObject({
      state: 'failed',
      reason: 'workflow_lost',
      failureClass: 'platform',
    });
    const { status } = await service.temporal.workflow.getHandle(run.id).describe();
    expect(status.name).toBe('TERMINATED');
  } finally {
    service.gateway.control.reset();
    await worker.stop();
  }
});
