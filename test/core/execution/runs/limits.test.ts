import { expect } from 'vitest';
import { openServices } from '#core/services.ts';
import { createLog } from '#lib/log.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startService, startWorkers } from '#test/support/service.ts';
import { changeRoutines, changeVersions, fallDue } from '#test/support/given.ts';

const test = serviceTest({ worker: true }).extend(
  'chatCalls',
  ({ service }) =>
    () =>
      service.gateway.control.requests().filter(({ path }) => path.includes('/chat/')),
);

test.afterEach(({ service }) => service.gateway.control.reset());

/** Makes the model ask for another tool call each time, so that it never ends. */
const RESTLESS = {
  times: null,
  behaviour: { kind: 'tool-calls' as const, calls: [{ name: 'no_such_tool' }], text: 'One more.' },
};

test('a variable that the routine does not have is 400 invalid_variable, and no run is made', async ({ key }) => {
  const routineId = await createRoutine(key, { variables: { topic: 'tea' } });
  const refused = await key.post(`/v1/routines/${routineId}/run`, { variables: { tpoic: 'x' } });
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({
    code: 'invalid_variable',
    message: expect.stringContaining('variables.tpoic'),
  });
  expect((await key.get(`/v1/routines/${routineId}/runs`)).data).toEqual([]);
});

test('a run whose values make its text too large fails before any model call', async ({ key, chatCalls }) => {
  const routineId = await createRoutine(key, {
    instructions: '{{topic}}'.repeat(41),
    variables: { topic: 'tea' },
  });
  const run = await runOnce(key, routineId, { variables: { topic: 'x'.repeat(10_000) } });
  expect(run).toMatchObject({ state: 'failed', reason: 'blocked_prompt_too_large', prompt: null });
  expect(chatCalls()).toEqual([]);
});

test('a run ends at its timeout and says so', async ({ service, key, chatCalls }) => {
  service.gateway.control.script({ behaviour: { kind: 'hang' } });
  const routineId = await createRoutine(key);
  await changeRoutines(service.deps.database, routineId, { timeoutSeconds: 2 });
  const started = Date.now();
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'failed', reason: 'timeout' });
  expect(run.errorMessage).toBe('The run took longer than limits.timeoutSeconds.');
  expect(Date.now() - started).toBeGreaterThanOrEqual(1_900);
  await expect.poll(() => chatCalls()[0]?.aborted).toBe(true);
});

test('a run ends at maxSteps', async ({ service, key, chatCalls }) => {
  service.gateway.control.script(RESTLESS);
  const routineId = await createRoutine(key, { limits: { maxSteps: 3 } });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'failed', reason: 'max_steps', stepCount: 3 });
  expect(chatCalls()).toHaveLength(3);
});

test('a run ends before the step for which maxTotalTokens leaves too little', async ({ service, key, chatCalls }) => {
  service.gateway.control.script(RESTLESS);
  const routineId = await createRoutine(key, { limits: { maxTotalTokens: 600 } });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'failed', reason: 'max_total_tokens' });
  expect(run.errorMessage).toContain('limits.maxTotalTokens (600)');
  expect(run.usage.totalTokens).toBeLessThanOrEqual(600);
  expect(chatCalls()).toHaveLength(run.stepCount);
});

test('a preflight that fails ends the run as blocked, with no model call', async ({ service, key, chatCalls }) => {
  const { database } = service.deps;
  const blocked = async (change: Parameters<typeof changeVersions>[2]) => {
    const routineId = await createRoutine(key);
    await changeVersions(database, { routineId }, change);
    return runOnce(key, routineId);
  };
  expect(await blocked({ modelId: 'gone/model' })).toMatchObject({
    state: 'failed',
    reason: 'blocked_model',
    errorMessage: 'No model source lists gone/model, and none is called gone. The sources are: gateway.',
    stepCount: 0,
  });
  expect(await blocked({ instructions: 'Use {{gone}}.' })).toMatchObject({
    reason: 'blocked_variable',
  });

  expect(await blocked({ modelProvider: 'provider-b' })).toMatchObject({
    reason: 'blocked_provider_disabled',
  });

  const spent = await createRoutine(key, { budget: { maxTokensPerDay: 1 } });
  const calls = chatCalls().length;
  expect(await runOnce(key, spent)).toMatchObject({
    state: 'failed',
    reason: 'blocked_budget',
    errorMessage:
      "The routine's budget.maxTokensPerDay of 1 tokens leaves too little for a step. The limit can be raised by anyone who may change the routine.",
  });
  expect(chatCalls()).toHaveLength(calls);
});

test('a run whose routine is archived before it begins is skipped and says so', async () => {
  const other = await startService();
  try {
    const client = await (await signUp(other)).key();
    const routineId = await createRoutine(client);
    const { data: run } = await client.post(`/v1/routines/${routineId}/run`);
    await client.delete(`/v1/routines/${routineId}`);
    const workers = await startWorkers(other.config, other.deps);
    try {
      expect(await runEnded(client, run.id)).toMatchObject({
        state: 'skipped',
        reason: 'archived',
        errorMessage: 'The routine was archived before the run began.',
      });
    } finally {
      await workers.stop();
    }
  } finally {
    await other.close();
  }
});

test('a worker that has never seen a model list, and cannot get one, blocks the run without a model call', async () => {
  const other = await startService();
  try {
    const client = await (await signUp(other)).key();
    const routineId = await createRoutine(client);
    const services = await openServices(other.config, createLog({ level: 'silent', name: 'test' }));
    const workers = await startWorkers(other.config, services.deps);
    try {
      other.gateway.control.script({
        target: 'models',
        times: null,
        behaviour: { kind: 'error', status: 503 },
      });
      const run = await runOnce(client, routineId);
      expect(run).toMatchObject({ state: 'failed', reason: 'blocked_models_unavailable' });
      const calls = other.gateway.control.requests().filter(({ path }) => path.includes('/chat/'));
      expect(calls).toEqual([]);
    } finally {
      await workers.stop();
      await services.close();
    }
  } finally {
    await other.close();
  }
});

test('after pauseAfterFailures failed scheduled runs in a row the routine is paused and says why', async ({
  service,
  key,
}) => {
  const id = await activeRoutine(key, { schedule: '@yearly', pauseAfterFailures: 2 });
  service.gateway.control.script({ times: null, behaviour: { kind: 'text', text: '' } });
  const scheduledRun = async () => {
    await fallDue(service, id);
    await service.deps.admission.admit();
    const [latest] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
    return runEnded(key, latest.id);
  };
  expect(await scheduledRun()).toMatchObject({ state: 'failed', reason: 'model_empty' });
  // A failed run of a person does not count as a failure of the schedule.
  expect(await runOnce(key, id)).toMatchObject({ state: 'failed' });
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({ state: 'active' });
  expect(await scheduledRun()).toMatchObject({ state: 'failed' });
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({
    state: 'paused',
    stateReason: 'paused after 2 failed runs in a row',
    nextRunAt: null,
  });
});
