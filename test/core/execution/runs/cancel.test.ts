import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { announceSlots } from '#core/execution/admission/index.ts';
import { tick } from '#core/scheduling/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startService, startWorkers, type Service } from '#test/support/service.ts';
import { startTcpProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';
import { ago, changeRuns } from '#test/support/given.ts';

let temporal: TcpProxy;
let service: Service;
let key: ApiClient;
let workers: { stop(): Promise<void> } | undefined;

beforeAll(async () => {
  temporal = await startTcpProxy(inject('temporalAddress'));
  service = await startService({ env: { TEMPORAL_ADDRESS: temporal.address } });
  key = await (await signUp(service)).key();
});
afterEach(() => service.gateway.control.reset());
afterAll(async () => {
  await workers?.stop();
  await service.close();
  await temporal.close();
});

async function work() {
  const config = { ...service.config, TEMPORAL_ADDRESS: inject('temporalAddress') };
  workers ??= await startWorkers(config, service.deps);
}

function chatCalls() {
  return service.gateway.control.requests().filter(({ path }) => path.includes('/chat/'));
}

async function hangingRun() {
  await work();
  service.gateway.control.script({ behaviour: { kind: 'hang' } });
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await expect.poll(() => chatCalls().length).toBe(1);
  return run.id as string;
}

test('a queued run is cancelled at once and no model is ever asked', async () => {
  // No worker uses these slots, so the run gets a workflow that does not begin.
  const taskQueue = service.config.TEMPORAL_TASK_QUEUE;
  await announceSlots(service.deps.database, { workerId: 'absent', taskQueue, slots: 5 });
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const cancelled = await key.post(`/v1/runs/${run.id}/cancel`);
  expect(cancelled).toMatchObject({
    status: 202,
    data: { state: 'cancelled', reason: 'cancelled', errorMessage: 'Someone cancelled the run.' },
  });
  await work();
  await expect
    .poll(async () => (await service.temporal.workflow.getHandle(run.id).describe()).status.name)
    .not.toBe('RUNNING');
  expect(chatCalls()).toEqual([]);
  const again = await key.post(`/v1/runs/${run.id}/cancel`);
  expect(again).toMatchObject({ status: 409, body: { error: { code: 'run_not_cancellable' } } });
});

test('cancelling reaches a model call that hangs', async () => {
  const runId = await hangingRun();
  const answer = await key.post(`/v1/runs/${runId}/cancel`);
  expect(answer.data).toMatchObject({ state: 'running', cancelRequestedAt: expect.any(String) });
  const run = await runEnded(key, runId);
  expect(run).toMatchObject({ state: 'cancelled', reason: 'cancelled', stepCount: 0 });
  expect(run.steps).toMatchObject([{ state: 'failed', errorMessage: 'The run was cancelled.' }]);
  // The worker learns of the cancellation with its next heartbeat and closes the connection.
  await expect.poll(() => chatCalls()[0]!.aborted).toBe(true);
  // The gateway may bill the input of the request, although no response states its size.
  await expect
    .poll(async () => (await key.get(`/v1/runs/${runId}`)).data.usage)
    .toMatchObject({ estimated: true, outputTokens: 0 });
});

test('a cancellation while Temporal is away is on record and a tick carries it out', async () => {
  const runId = await hangingRun();
  await temporal.cut();
  const answer = await key.post(`/v1/runs/${runId}/cancel`);
  expect(answer).toMatchObject({ status: 202, data: { cancelRequestedAt: expect.any(String) } });
  await temporal.mend();
  const { database } = service.deps;
  await changeRuns(database, runId, { workflowStartedAt: ago('1 minute') });
  await expect
    .poll(
      () =>
        tick(service.deps).then(
          () => 'ticked',
          () => 'away',
        ),
      { interval: 500 },
    )
    .toBe('ticked');
  expect(await runEnded(key, runId)).toMatchObject({ state: 'cancelled' });
});

test('a run that has ended cannot be cancelled, and can be run again with the same inputs', async () => {
  await work();
  const routineId = await createRoutine(key, {
    instructions: 'Write about {{topic}}.',
    variables: { topic: 'tea' },
  });
  const first = await runOnce(key, routineId, { variables: { topic: 'ships' } });
  expect(first).toMatchObject({ state: 'succeeded', prompt: 'Write about ships.' });
  const retried = await key.post(`/v1/runs/${first.id}/retry`);
  expect(retried).toMatchObject({ status: 202, data: { retryOf: first.id, trigger: 'manual' } });
  const second = await runEnded(key, retried.data.id);
  expect(second).toMatchObject({ state: 'succeeded', prompt: 'Write about ships.' });
  expect((await key.post(`/v1/runs/${first.id}/cancel`)).status).toBe(409);
});

test('a run under way cannot be retried', async () => {
  const runId = await hangingRun();
  const refused = await key.post(`/v1/runs/${runId}/retry`);
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'run_not_finished' } } });
  await key.post(`/v1/runs/${runId}/cancel`);
  await runEnded(key, runId);
});
