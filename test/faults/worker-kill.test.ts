import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { actionsOf, approve, holdingRoutine, runAsking, ticked } from '#test/core/execution/actions/support.ts';
import {
  marker,
  requestsWith,
  routineWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { changeReservations } from '#test/support/given.ts';
import { FULL_SIZE, PATIENCE_MS } from '#test/support/properties.ts';

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

const PATIENCE = { timeout: PATIENCE_MS };

/** A worker is killed once, while runs of four projects are under way; each test follows one of them to its end. */
describe('a worker that is killed', () => {
  let hostile: HostileTools;
  let reserving: { id: string; routineId: string; mark: string };
  let waiting: { id: string; mark: string };
  let tools: Record<'lookup' | 'send_message', { id: string; mark: string }>;
  let approver: ApiClient;
  let action: Json;
  let waits: ApiClient;

  beforeAll(async () => {
    await workers.stop();
    service.gateway.control.reset();
    hostile = await startHostileTools();
    hostile.control.delayMs = 120_000;
    // The timeout is longer than a busy machine needs to start another worker, and shorter than the time limit of the
    // run.
    const first = await workers.start({ MODEL_STEP_TIMEOUT_SECONDS: '600' });
    reserving = await startReserving();
    const { session, projectId, ...person } = await signUp(service);
    waits = await person.key();
    const setBudget = (maxTokensPerDay: number) =>
      session.patch(`/v1/projects/${projectId}`, { budget: { maxTokensPerDay } });
    await setBudget(12_000);
    waiting = await startWaiting(waits);
    tools = { lookup: await startCalling('lookup'), send_message: await startCalling('send_message') };
    const other = await signUp(service);
    approver = other.session.with({ 'X-Project-Id': other.projectId });
    action = await startSending();
    await vi.waitFor(async () => expect(called()).toEqual(['lookup', 'send_message', 'send_message']), PATIENCE);

    await first.end('SIGKILL');
    hostile.control.delayMs = 0;
    // The reservation of the killed worker remains until its call is over.
    await setBudget(100_000);
    await workers.start();
  });
  afterAll(() => hostile?.stop());

  const called = () => hostile.control.calls.map(({ name }) => name).toSorted();

  async function startReserving() {
    const mark = marker();
    service.gateway.control.script({ marker: mark, latencyMs: 120_000 });
    const routineId = await createRoutine(key, {
      instructions: mark,
      limits: { maxOutputTokens: 1_000 },
      budget: { maxTokensPerDay: 1_900 },
    });
    const { data } = await key.post(`/v1/routines/${routineId}/run`);
    await vi.waitFor(async () => expect(requestsWith(service, mark)).toHaveLength(1), PATIENCE);
    return { id: data.id as string, routineId, mark };
  }

  /** Starts a run that waits, because another one holds the budget of its project. */
  async function startWaiting(client: ApiClient) {
    const limits = { maxOutputTokens: 10_000 };
    const [holding, mark] = [marker(), marker()];
    const held = await createRoutine(client, { instructions: holding, limits });
    const routineId = await createRoutine(client, { instructions: mark, limits });
    service.gateway.control.hold({ marker: holding });
    await client.post(`/v1/routines/${held}/run`);
    await vi.waitFor(async () => expect(requestsWith(service, holding)).toHaveLength(1), PATIENCE);
    const { data } = await client.post(`/v1/routines/${routineId}/run`);
    const waitingFor = async () => (await client.get(`/v1/runs/${data.id}`)).data.waitingFor as string;
    await vi.waitFor(async () => expect(await waitingFor()).toBe('budget'), PATIENCE);
    return { id: data.id as string, mark };
  }

  async function startCalling(tool: 'lookup' | 'send_message') {
    const mark = marker();
    const connection = { url: hostile.url('honest') };
    const { routineId } = await routineWith(key, [tool], { connection, routine: { instructions: mark } });
    scriptCalls(service, mark, { name: tool, arguments: tool === 'lookup' ? { query: 'x' } : { to: 'someone' } });
    const { data } = await key.post(`/v1/routines/${routineId}/run`);
    return { id: data.id as string, mark };
  }

  /** Approves a call that a run has asked for. */
  async function startSending() {
    const routine = await holdingRoutine(approver, ['send_message'], { url: hostile.url('honest') });
    const call = { name: 'send_message', arguments: { to: 'another' } };
    await runAsking({ service, client: approver }, routine, call);
    const [open] = await actionsOf(approver, `routineId=${routine.routineId}`);
    expect((await approve(approver, open)).status).toBe(200);
    return open;
  }

  test('keeps its reservation until its call cannot come back, and it is then released', async () => {
    const { database } = service.deps;
    const { id, routineId, mark } = reserving;
    // The next attempt waits for the budget that the first attempt may still use.
    const isWaiting = async () => {
      const { events } = await service.temporal.workflow.getHandle(id).fetchHistory();
      return events?.some(({ timerStartedEventAttributes: timer }) => timer) === true;
    };
    await expect.poll(isWaiting).toBe(true);
    const held = await database.rows<{ attempt: number; seconds: number }>`
      select attempt, extract(epoch from leased_until - now())::float8 as seconds
      from usage_reservations where run_id = ${id}
    `;
    expect(held).toEqual([{ attempt: 1, seconds: expect.any(Number) }]);
    // The reservation lasts no longer than the call's own maximum and the time to store the response.
    expect(held[0]!.seconds).toBeLessThan(600 + 30);
    expect(requestsWith(service, mark)).toHaveLength(1);

    await changeReservations(database, { runId: id }, { leasedUntil: AT_ONCE });
    const ended = await runEnded(key, id);
    expect(ended).toMatchObject({ state: 'succeeded', stepCount: 1, usage: { estimated: true } });
    const totals =
      await database.rows`select day_tokens, reserved_tokens from usage_totals where scope_id = ${routineId}`;
    // The call that died with its worker counts, in addition to the repeated call.
    expect(totals).toEqual([{ day_tokens: ended.usage.totalTokens, reserved_tokens: 0 }]);
  });

  test('leaves a run that waits for a budget to another worker', async () => {
    const ended = await runEnded(waits, waiting.id);
    expect(ended).toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }] });
    expect(requestsWith(service, waiting.mark)).toHaveLength(1);
  });

  test('in the middle of two calls: only the read-only one is made again', async () => {
    const read = await runEnded(key, tools.lookup.id);
    const sent = await runEnded(key, tools.send_message.id);
    expect(toolSteps(read)[0]).toMatchObject({ errorMessage: null, state: 'succeeded', attempt: 2 });
    expect(toolSteps(sent)[0]).toMatchObject({ state: 'outcome_unknown', attempt: 1 });
    expect([read.state, sent.state]).toEqual(['succeeded', 'succeeded']);
    const told = requestsWith(service, tools.send_message.mark).at(-1).body.messages.at(-1).content;
    expect(told).toContain('unknown');
  });

  test('while it sends an approved call: the outcome is unknown, and nothing is sent again', async () => {
    const state = async () => (await ticked(service), (await approver.get(`/v1/actions/${action.id}`)).data.state);
    await expect.poll(state, { interval: 500 }).toBe('outcome_unknown');
    expect((await approve(approver, action)).data.state).toBe('outcome_unknown');
    expect(called()).toEqual(['lookup', 'lookup', 'send_message', 'send_message']);
  });
});
