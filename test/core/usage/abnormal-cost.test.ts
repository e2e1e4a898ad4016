import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

test.afterEach(({ service }) => service.gateway.control.reset());

/** Makes the model ask for another tool call each time, so that it never ends. */
const RESTLESS = {
  times: null,
  behaviour: { kind: 'tool-calls' as const, calls: [{ name: 'no_such_tool' }], text: 'One more.' },
};

/** Variables that make the text of a run ten times as long: more than 20,000 tokens. */
const LONG = { variables: { pad: 'many words '.repeat(900) } };

/** Makes a routine whose version has had this number of short runs. */
async function routineWithRuns(key: ApiClient, runs: number, limits: Record<string, unknown> = {}) {
  const id = await createRoutine(key, {
    instructions: '{{pad}}'.repeat(10),
    variables: { pad: 'x' },
    limits: { maxSteps: 2, ...limits },
  });
  for (let run = 0; run < runs; run++) {
    expect(await runOnce(key, id)).toMatchObject({ state: 'succeeded' });
  }
  return id;
}

test('a run that costs many times as much as other runs of its version ends before its next step, and says who can allow it', async ({
  service,
  key,
}) => {
  const id = await routineWithRuns(key, 5);
  service.gateway.control.reset();
  service.gateway.control.script(RESTLESS);
  const run = await runOnce(key, id, LONG);
  expect(run).toMatchObject({
    state: 'failed',
    reason: 'abnormal_cost',
    failureClass: 'routine',
    stepCount: 1,
    result: 'One more.',
  });
  expect(run.usage.totalTokens).toBeGreaterThan(20_000);
  expect(run.steps).toHaveLength(1);
  expect(run.errorMessage).toContain(`The run has used ${run.usage.costUsd} US dollars`);
  expect(run.errorMessage).toContain('limits.abnormalFactor (5)');
  expect(run.errorMessage).toContain('the last 5 runs of its version');
  expect(run.errorMessage).toContain('raised by anyone who may change the routine');
  const calls = service.gateway.control.requests().filter(({ path }) => path.includes('/chat/'));
  expect(calls).toHaveLength(1);
});

test('a run without prices is judged by its tokens', async ({ service, key }) => {
  const id = await createRoutine(key, {
    instructions: '{{pad}}'.repeat(10),
    variables: { pad: 'x' },
    limits: { maxSteps: 2 },
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/unpriced-long' },
  });
  for (let run = 0; run < 5; run++) await runOnce(key, id);
  service.gateway.control.script({
    ...RESTLESS,
    model: 'fixture/unpriced-long',
  });
  const run = await runOnce(key, id, LONG);
  expect(run).toMatchObject({ state: 'failed', reason: 'abnormal_cost' });
  expect(run.errorMessage).toContain(`The run has used ${run.usage.totalTokens} tokens`);
});

test('a run goes on where its version has had too few runs, the factor is switched off, or it is cheap', async ({
  service,
  key,
}) => {
  const [cheap, ...dear] = await Promise.all([
    routineWithRuns(key, 5),
    routineWithRuns(key, 4),
    routineWithRuns(key, 5, { abnormalFactor: null }),
    routineWithRuns(key, 5, { abnormalFactor: 1_000 }),
  ]);
  service.gateway.control.script(RESTLESS);
  const ended = await Promise.all(dear.map((id) => runOnce(key, id, LONG)));
  expect(ended).toMatchObject(dear.map(() => ({ reason: 'max_steps', stepCount: 2 })));
  const words = { variables: { pad: 'many words '.repeat(90) } };
  const run = await runOnce(key, cheap, words);
  expect(run).toMatchObject({ reason: 'max_steps', stepCount: 2 });
  expect(run.usage.totalTokens).toBeLessThan(20_000);
});

test('a run that has its answer keeps it at any cost', async ({ key }) => {
  const id = await routineWithRuns(key, 5);
  const run = await runOnce(key, id, LONG);
  expect(run).toMatchObject({ state: 'succeeded', reason: null });
  expect(run.usage.totalTokens).toBeGreaterThan(20_000);
});

test('the runs of an earlier version do not say what is normal for this one', async ({ service, key }) => {
  const id = await routineWithRuns(key, 5);
  const changed = await key.patch(`/v1/routines/${id}`, { limits: { abnormalFactor: 2 } });
  expect(changed.data).toMatchObject({ revision: 2, limits: { abnormalFactor: 2 } });
  expect((await key.get(`/v1/routines/${id}/versions/2`)).data).toMatchObject({
    changed: ['limits'],
    limits: { abnormalFactor: 2 },
  });
  service.gateway.control.script(RESTLESS);
  expect(await runOnce(key, id, LONG)).toMatchObject({ reason: 'max_steps' });
});

test('a factor that would end ordinary runs is refused', async ({ key }) => {
  const id = await createRoutine(key);
  for (const abnormalFactor of [1, 0, -5, 1_001, '5']) {
    const refused = await key.patch(`/v1/routines/${id}`, { limits: { abnormalFactor } });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
  }
});
