import { afterAll, beforeAll, expect, test } from 'vitest';
import { AT_ONCE } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { changeReservations } from '#test/support/given.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

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

test.runIf(FULL_SIZE)(
  'a worker killed in the middle of a model call: another ends the run, once, with its attempts told',
  async () => {
    const calls = () => service.gateway.control.requests().filter(({ path }) => path.includes('/chat/'));

    const first = await workers.start();
    service.gateway.control.script({ latencyMs: 120_000 });
    const routineId = await createRoutine(key);
    const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
    await expect.poll(() => calls().length).toBe(1);
    await first.end('SIGKILL');
    await workers.start();

    const ended = await runEnded(key, run.id);
    expect(ended).toMatchObject({ state: 'succeeded', stepCount: 1 });
    expect(ended.steps).toMatchObject([{ index: 0, state: 'succeeded', attempt: 2 }]);
    expect(calls()).toHaveLength(2);
    const ledger = await service.deps.database
      .rows`select step_index, total_tokens from usage_ledger where run_id = ${run.id}`;
    expect(ledger).toEqual([{ step_index: 0, total_tokens: ended.usage.totalTokens }]);
  },
);

test.runIf(FULL_SIZE)('an attempt that died with its worker is none of the five that a provider may fail', async () => {
  await workers.stop();
  service.gateway.control.reset();
  const first = await workers.start();
  service.gateway.control.script({ latencyMs: 120_000 });
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const calls = () => service.gateway.control.requests().filter(({ path }) => path.includes('/chat/')).length;
  await expect.poll(calls).toBe(1);
  await first.end('SIGKILL');
  service.gateway.control.script({
    times: 5,
    behaviour: { kind: 'error', status: 502, retryAfter: '1' },
  });
  await workers.start();

  const ended = await runEnded(key, run.id);
  expect(ended).toMatchObject({ state: 'failed', reason: 'model_error' });
  expect(ended.steps).toMatchObject([{ attempt: 6 }]);
  expect(calls()).toBe(6);
});

test('the reservation of a killed worker stays until its call cannot come back, and is then released', async () => {
  await workers.stop();
  service.gateway.control.reset();
  const { database } = service.deps;
  // The timeout is longer than a busy machine needs to start another worker, and shorter than the time limit of the
  // run.
  const first = await workers.start({ MODEL_STEP_TIMEOUT_SECONDS: '600' });
  service.gateway.control.script({ latencyMs: 120_000 });
  const routineId = await createRoutine(key, {
    limits: { maxOutputTokens: 1_000 },
    budget: { maxTokensPerDay: 1_900 },
  });
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const calls = () => service.gateway.control.requests().filter(({ path }) => path.includes('/chat/')).length;
  await expect.poll(calls).toBe(1);
  await first.end('SIGKILL');
  await workers.start();

  // The next attempt waits for the budget that the first attempt may still use.
  const waits = async () => {
    const { events } = await service.temporal.workflow.getHandle(run.id).fetchHistory();
    return events?.some(({ timerStartedEventAttributes: timer }) => timer) === true;
  };
  await expect.poll(waits).toBe(true);
  const held = await database.rows<{ attempt: number; seconds: number }>`
    select attempt, extract(epoch from leased_until - now())::float8 as seconds
    from usage_reservations where run_id = ${run.id}
  `;
  expect(held).toEqual([{ attempt: 1, seconds: expect.any(Number) }]);
  // The reservation lasts no longer than the call's own maximum and the time to store the response.
  expect(held[0]!.seconds).toBeLessThan(600 + 30);
  expect(calls()).toBe(1);

  await changeReservations(database, { runId: run.id }, { leasedUntil: AT_ONCE });
  const ended = await runEnded(key, run.id);
  expect(ended).toMatchObject({ state: 'succeeded', stepCount: 1, usage: { estimated: true } });
  const totals =
    await database.rows`select day_tokens, reserved_tokens from usage_totals where scope_id = ${routineId}`;
  // The call that died with its worker counts, in addition to the repeated call.
  expect(totals).toEqual([{ day_tokens: ended.usage.totalTokens, reserved_tokens: 0 }]);
});
