import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { pausedEvent } from '#api/docs/webhooks.ts';
import { announceSlots, createAdmission } from '#core/execution/admission/index.ts';
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE, sql } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, startWorkers, type Service } from '#test/support/service.ts';
import { startTcpProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';
import { EVERY, ago, changeRoutines, changeRuns, earlier, plantRuns } from '#test/support/given.ts';
import { occurrencesOf, plantRoutine, routineOf } from './planted.ts';

let temporal: TcpProxy;
let service: Service;
let key: ApiClient;
let workers: { stop(): Promise<void> };

beforeAll(async () => {
  temporal = await startTcpProxy(inject('temporalAddress'));
  service = await startService({ env: { TEMPORAL_ADDRESS: temporal.address } });
  // The workers reach Temporal directly. Only the side that starts runs loses its connection.
  const config = { ...service.config, TEMPORAL_ADDRESS: inject('temporalAddress') };
  workers = await startWorkers(config, service.deps);
  key = await (await signUp(service)).key();
});
afterEach(async () => {
  service.gateway.control.reset();
  await changeRoutines(service.deps.database, EVERY, { state: 'archived' });
});
afterAll(async () => {
  await workers.stop();
  await service.close();
  await temporal.close();
});

async function beat() {
  await tick(service.deps);
  return service.deps.admission.admit();
}

/** Sets the last change of the run back by an interval. */
function age(runId: string, interval: string) {
  return changeRuns(service.deps.database, runId, {
    createdAt: earlier(interval),
    checkedAt: null,
    workflowStartedAt: earlier(interval),
  });
}

/** Ends the lease of the process that was about to start the run. */
function leaseOver(runId: string) {
  return changeRuns(service.deps.database, runId, { startLeasedUntil: ago('1 second') });
}

function workflowOf(runId: string) {
  return service.temporal.workflow.getHandle(runId);
}

test('a run started while Temporal is away is accepted, and a later tick starts it', async () => {
  const routineId = await createRoutine(key);
  await temporal.cut();
  const accepted = await key.post(`/v1/routines/${routineId}/run`);
  expect(accepted).toMatchObject({ status: 202, data: { state: 'queued' } });
  const runId = accepted.data.id;
  await leaseOver(runId);
  expect(await beat()).toMatchObject({ started: 0 });
  expect((await key.get(`/v1/runs/${runId}`)).data.state).toBe('queued');
  await temporal.mend();
  await leaseOver(runId);
  await beat();
  expect(await runEnded(key, runId)).toMatchObject({ state: 'succeeded', stepCount: 1 });
});

test('a scheduled occurrence is claimed while Temporal is away and starts once it is back', async () => {
  const routineId = await createRoutine(key, { schedule: '0 0 1 1 *' });
  const due = { state: 'active', nextRunAt: AT_ONCE };
  await changeRoutines(service.deps.database, routineId, due);
  await temporal.cut();
  await tick(service.deps);
  const [occurrence] = await occurrencesOf(service.deps.database, routineId);
  expect(occurrence).toMatchObject({ state: 'queued' });
  await temporal.mend();
  await beat();
  expect(await runEnded(key, occurrence!.id)).toMatchObject({
    state: 'succeeded',
    trigger: 'schedule',
  });
});

test('twenty processes that admit runs share them out and start each once', async () => {
  const { rule } = service.deps.admission;
  await announceSlots(service.deps.database, { ...rule, workerId: 'roomy', slots: 100 });
  const routineId = await createRoutine(key);
  const { data } = await key.get(`/v1/routines/${routineId}`);
  expect(data.state).toBe('draft');
  await plantRuns(service.deps.database, routineId, 60);
  const all = await Promise.all(Array.from({ length: 20 }, () => createAdmission({ ...service.deps, rule }).admit()));
  // The worker's own admission has started the other runs.
  expect(all.reduce((sum, { started }) => sum + started, 0)).toBeLessThanOrEqual(60);
  const ended = async () =>
    service.deps.database
      .row`select count(*) as ended from runs where routine_id = ${routineId} and state = 'succeeded' and step_count = 1`;
  await expect.poll(ended, { interval: 200 }).toEqual({ ended: 60 });
});

test('a run whose workflow was terminated under way fails as workflow_lost', async () => {
  service.gateway.control.script({ latencyMs: 60_000 });
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await expect.poll(async () => (await key.get(`/v1/runs/${run.id}`)).data.state).toBe('running');
  await workflowOf(run.id).terminate('test');
  await tick(service.deps);
  expect((await key.get(`/v1/runs/${run.id}`)).data.state).toBe('running');
  await age(run.id, '1 minute');
  await tick(service.deps);
  expect((await key.get(`/v1/runs/${run.id}`)).data).toMatchObject({
    state: 'failed',
    reason: 'workflow_lost',
    errorMessage: 'The engine lost the run.',
  });
});

test('a queued run whose workflow was lost before it began is started again and ends once', async () => {
  await workers.stop();
  // No worker uses these slots, so no run begins.
  const taskQueue = service.config.TEMPORAL_TASK_QUEUE;
  await announceSlots(service.deps.database, { workerId: 'gone', taskQueue, slots: 100 });
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await workflowOf(run.id).terminate('test');
  await changeRuns(service.deps.database, run.id, { workflowStartedAt: ago('1 minute') });
  expect(await beat()).toMatchObject({ started: 1 });
  const config = { ...service.config, TEMPORAL_ADDRESS: inject('temporalAddress') };
  workers = await startWorkers(config, service.deps);
  expect(await runEnded(key, run.id)).toMatchObject({ state: 'succeeded', stepCount: 1 });
});

test('a dead previous run delays its routine only until it is noticed', async () => {
  service.gateway.control.script({ latencyMs: 60_000 });
  const routineId = await createRoutine(key, { schedule: '0 0 1 1 *' });
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await expect.poll(async () => (await key.get(`/v1/runs/${run.id}`)).data.state).toBe('running');
  await workflowOf(run.id).terminate('test');
  await age(run.id, '1 minute');
  const due = (interval: string) =>
    changeRoutines(service.deps.database, routineId, {
      state: 'active',
      nextRunAt: sql`date_trunc('minute', now()) + ${interval}::interval`,
    });
  await due('-1 minute');
  await beat();
  await due('0');
  const before = earlier('10 minutes');
  const scheduled = { routineId, trigger: 'schedule' };
  await changeRuns(service.deps.database, scheduled, {
    scheduledFor: before,
    skippedUntil: before,
  });
  await beat();
  const record = await occurrencesOf(service.deps.database, routineId);
  expect(record.filter(({ reason }) => reason === 'overlap')).toHaveLength(1);
  const going = record.find(({ reason }) => reason === null);
  expect(await runEnded(key, going!.id)).toMatchObject({ state: 'succeeded' });
});

test('an active routine without a next time gets one; one whose schedule is unreadable is paused, which is news', async () => {
  const { database } = service.deps;
  const lost = await plantRoutine(database, { schedule: '0 * * * *' });
  const broken = await plantRoutine(database, { schedule: '61 * * * *', beside: lost });
  await changeRoutines(database, broken.id, { webhookUrl: 'http://127.0.0.1:9/hook' });
  await tick(service.deps);
  const { nextRunAt } = await routineOf(database, lost.id);
  expect(nextRunAt!.getTime()).toBeGreaterThan(Date.now());
  expect(nextRunAt!.getUTCMinutes()).toBe(0);
  const { stateReason, ...paused } = await routineOf(database, broken.id);
  expect(paused).toEqual({ state: 'paused', nextRunAt: null });
  const [news, ...others] = await database.rows<{
    body: string;
  }>`select body from webhook_deliveries where routine_id = ${broken.id}`;
  expect(others).toEqual([]);
  expect(pausedEvent.parse(JSON.parse(news!.body))).toMatchObject({
    type: 'routine.paused',
    data: { routineId: broken.id, state: 'paused', reason: stateReason, runId: null },
  });
});

test('an occurrence that falls due within two seconds of a tick is claimed by it, at its time', async () => {
  const { database } = service.deps;
  const nextRunAt = new Date(Date.now() + 1_200);
  const soon = await plantRoutine(database, { schedule: '0 0 1 1 *', nextRunAt });
  expect(await tick(service.deps)).toMatchObject({ runs: 1 });
  expect(await occurrencesOf(database, soon.id)).toMatchObject([{ from: nextRunAt }]);
  expect(Date.now()).toBeGreaterThanOrEqual(nextRunAt.getTime());
});

test('one part of a tick that fails does not keep the others from their work', async () => {
  const { database } = service.deps;
  const { id } = await plantRoutine(database, { schedule: '0 0 1 1 *', nextRunAt: new Date() });
  await database.run`alter table webhook_deliveries rename to hidden`;
  try {
    await expect(tick(service.deps)).rejects.toThrow('webhook_deliveries');
  } finally {
    await database.run`alter table hidden rename to webhook_deliveries`;
  }
  expect(await occurrencesOf(database, id)).toMatchObject([{ reason: null }]);
});

test('an occurrence that is due and not yet claimed survives the saving of another schedule', async () => {
  const { database } = service.deps;
  const routineId = await createRoutine(key, { schedule: '@yearly' });
  await changeRoutines(database, routineId, { state: 'active', nextRunAt: AT_ONCE });
  const patched = await key.patch(`/v1/routines/${routineId}`, { schedule: '0 0 1 2 *' });
  expect(patched.data).toMatchObject({ state: 'active' });
  await tick(service.deps);
  // The run may have begun in the meantime.
  expect(await occurrencesOf(database, routineId)).toMatchObject([{ reason: null }]);
  expect((await routineOf(database, routineId)).nextRunAt?.getUTCMonth()).toBe(1);
});
