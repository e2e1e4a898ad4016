import { expect } from 'vitest';
import { endRun } from '#core/execution/runs/index.ts';
import { failure } from '#core/execution/run-states/index.ts';
import { transaction } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startWorkers, type Service } from '#test/support/service.ts';
import { claimedRun, plantRun } from '#test/support/given.ts';

// Tests without workers: queued runs wait until a test starts a worker.
const test = serviceTest({ own: true });

test.afterEach(({ service }) => service.gateway.control.reset());

/** Lists the requests to the fixture gateway, as text. */
function asked({ gateway }: Service): string[] {
  return gateway.control
    .requests()
    .filter(({ path }) => path.includes('/chat/'))
    .map(({ body }) => JSON.stringify(body));
}

async function working<T>(service: Service, work: () => Promise<T>): Promise<T> {
  const workers = await startWorkers(service.config, service.deps);
  try {
    return await work();
  } finally {
    await workers.stop();
  }
}

/** Locks the row of the run during `change`, as a step that is about to begin the run does. */
function heldDuring(service: Service, runId: string, change: () => Promise<unknown>) {
  return transaction(service.deps.database, async (tx) => {
    await tx.run`select id from runs where id = ${runId} for update`;
    await change();
  });
}

const CHANGES = {
  superseded: (key: ApiClient, id: string) =>
    key.patch(`/v1/routines/${id}`, { instructions: 'No run has proven this.' }),
  paused: (key: ApiClient, id: string) => key.post(`/v1/routines/${id}/pause`),
  archived: (key: ApiClient, id: string) => key.delete(`/v1/routines/${id}`),
};
const MESSAGES = {
  superseded: 'The routine was changed before the run began.',
  paused: 'The routine was paused before the run began.',
  archived: 'The routine was archived before the run began.',
};
const REASONS = ['superseded', 'paused', 'archived'] as const;

test.for(REASONS)(
  'a claimed run whose routine is changed before its first step is skipped with the change: %s',
  async (reason, { service, key }) => {
    const { routineId, runId } = await claimedRun(service, key);
    const later = await claimedRun(service, key);
    expect((await CHANGES[reason](key, routineId)).status).toBe(200);
    expect((await key.get(`/v1/runs/${runId}`)).data).toMatchObject({
      state: 'skipped',
      reason,
      errorMessage: MESSAGES[reason],
      finishedAt: expect.any(String),
      steps: [],
    });
    // The run of another routine continues, and is the only one that reaches the model.
    await working(service, async () => {
      expect(await runEnded(key, later.runId)).toMatchObject({ state: 'succeeded' });
    });
    expect(asked(service)).toHaveLength(1);
  },
);

test.for(REASONS)(
  'a run that is about to begin while its routine is changed is skipped at its first step: %s',
  async (reason, { service, key }) => {
    const { routineId, runId } = await claimedRun(service, key);
    await heldDuring(service, runId, () => CHANGES[reason](key, routineId));
    expect((await key.get(`/v1/runs/${runId}`)).data.state).toBe('queued');
    await working(service, async () => {
      expect(await runEnded(key, runId)).toMatchObject({
        state: 'skipped',
        reason,
        errorMessage: MESSAGES[reason],
        steps: [],
      });
    });
    expect(asked(service)).toEqual([]);
  },
);

test('a change that is not material leaves a claimed run as it is', async ({ service, key }) => {
  const { routineId, runId } = await claimedRun(service, key);
  await key.patch(`/v1/routines/${routineId}`, { name: 'Another name', overlap: 'allow' });
  await working(service, async () => {
    expect(await runEnded(key, runId)).toMatchObject({ state: 'succeeded', routineRevision: 1 });
  });
});

test('too many failures in a row skip what the routine has queued besides', async ({ service, key }) => {
  const { routineId, runId } = await claimedRun(service, key, {
    pauseAfterFailures: 1,
    overlap: 'allow',
  });
  const { database } = service.deps;
  const now = new Date();
  // This run is under way on another worker.
  const failing = await plantRun(database, routineId, {
    trigger: 'schedule',
    state: 'running',
    admittedAt: now,
    startedAt: now,
    workflowStartedAt: now,
  });
  await endRun(service.deps, failing, failure('max_steps'));
  expect((await key.get(`/v1/runs/${failing}`)).data).toMatchObject({ reason: 'max_steps' });
  expect((await key.get(`/v1/routines/${routineId}`)).data.state).toBe('paused');
  expect((await key.get(`/v1/runs/${runId}`)).data).toMatchObject({
    state: 'skipped',
    reason: 'paused',
  });
});

test('a manual run keeps the text, the variables and the limits that it was started with', async ({ service, key }) => {
  const routineId = await createRoutine(key, {
    instructions: 'The old text about {{topic}}.',
    variables: { topic: 'tea' },
    limits: { maxSteps: 1 },
  });
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await key.patch(`/v1/routines/${routineId}`, {
    instructions: 'The new text about {{subject}}.',
    variables: { subject: 'ships' },
    limits: { maxSteps: 3 },
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/free' },
  });
  service.gateway.control.script({
    behaviour: { kind: 'tool-calls', calls: [{ name: 'no_such_tool' }], text: 'One more.' },
  });
  await working(service, async () => {
    expect(await runEnded(key, run.id)).toMatchObject({
      state: 'failed',
      reason: 'max_steps',
      routineRevision: 1,
      prompt: 'The old text about tea.',
      model: { modelId: 'fixture/writer-small' },
    });
    const [old, ...others] = asked(service);
    expect(old).toContain('The old text about tea.');
    expect(others).toEqual([]);
    // The next run uses the new version.
    const again = await runOnce(key, routineId);
    expect(again).toMatchObject({ state: 'succeeded', prompt: 'The new text about ships.' });
  });
});

test('a manual run proves the version that it ran only', async ({ service, key }) => {
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await key.patch(`/v1/routines/${routineId}`, { instructions: 'Something else.' });
  await working(service, async () => {
    expect(await runEnded(key, run.id)).toMatchObject({ state: 'succeeded', routineRevision: 1 });
  });
  const refused = await key.post(`/v1/routines/${routineId}/activate`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'successful_run_required']);
});

test('pausing leaves manual runs alone; with cancelRuns it stops every open run', async ({ service, key }) => {
  const pause = `/v1/routines/:id/pause`;
  const { routineId, runId } = await claimedRun(service, key);
  const path = pause.replace(':id', routineId);
  const { data: manual } = await key.post(`/v1/routines/${routineId}/run`);
  expect((await key.send('POST', path)).data.state).toBe('paused');
  expect((await key.get(`/v1/runs/${runId}`)).data.reason).toBe('paused');
  expect((await key.get(`/v1/runs/${manual.id}`)).data.state).toBe('queued');

  service.gateway.control.script({ behaviour: { kind: 'hang' } });
  await working(service, async () => {
    await expect.poll(() => asked(service)).toHaveLength(1);
    expect((await key.get(`/v1/runs/${manual.id}`)).data.state).toBe('running');
    // The routine is already paused, but its runs are stopped too.
    expect((await key.post(path, { cancelRuns: true })).data.state).toBe('paused');
    expect(await runEnded(key, manual.id)).toMatchObject({
      state: 'cancelled',
      reason: 'cancelled',
    });
  });

  const { data: waiting } = await key.post(`/v1/routines/${routineId}/run`);
  await key.post(path, { cancelRuns: true });
  expect((await key.get(`/v1/runs/${waiting.id}`)).data.state).toBe('cancelled');
  const refused = await key.post(path, { cancelRuns: 'yes' });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
});

test('with cancelRuns a run is stopped too whose row another transaction holds just then', async ({ service, key }) => {
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  let response: ReturnType<ApiClient['post']> | undefined;
  await heldDuring(service, run.id, async () => {
    response = key.post(`/v1/routines/${routineId}/pause`, { cancelRuns: true });
    await expect.poll(async () => (await key.get(`/v1/routines/${routineId}`)).data.state).toBe('paused');
  });
  expect((await response)?.data.state).toBe('paused');
  expect((await key.get(`/v1/runs/${run.id}`)).data.state).toBe('cancelled');
});
