import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

test('a manual run succeeds with one step, its text, its usage and its cost', async ({ key }) => {
  const routineId = await createRoutine(key, {
    instructions: 'Report on {{topic}}.',
    variables: { topic: 'tea' },
  });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'succeeded', trigger: 'manual', reason: null, stepCount: 1 });
  expect(run.prompt).toBe('Report on tea.');
  expect(run.steps).toHaveLength(1);
  expect(run.steps[0]).toMatchObject({ index: 0, kind: 'model', state: 'succeeded', attempt: 1 });
  expect(run.result).toBe(run.steps[0].text);
  expect(run.usage.inputTokens).toBeGreaterThan(0);
  expect(Number(run.usage.costUsd)).toBeGreaterThan(0);
  expect(run.usage).toEqual(run.steps[0].usage);
});

test('a skill is appended verbatim, under its name, after the rendered instructions', async ({ key }) => {
  const skill = await key.post('/v1/skills', {
    name: 'House style',
    instructions: 'Never use {{topic}} as a verb, please.',
  });
  const routineId = await createRoutine(key, {
    instructions: 'Write about {{topic}}.',
    variables: { topic: 'ships' },
    skills: [skill.data.id, 'seo-audit'],
  });
  const run = await runOnce(key, routineId);
  const [own, first, second] = run.prompt.split(/\n\n(?=## Skill: )/);
  expect(own).toBe('Write about ships.');
  expect(first).toBe('## Skill: House style\n\nNever use {{topic}} as a verb, please.');
  expect(second).toMatch(/^## Skill: /);
});

test('a deleted skill is skipped and the run succeeds', async ({ key }) => {
  const skill = await key.post('/v1/skills', { name: 'Gone', instructions: 'x'.repeat(20) });
  const routineId = await createRoutine(key, { skills: [skill.data.id] });
  await key.delete(`/v1/skills/${skill.data.id}`);
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'succeeded', prompt: 'Write one line.' });
});

test('an activated routine has a next time, and a material change takes it back to draft', async ({ key }) => {
  const id = await activeRoutine(key);
  const active = await key.get(`/v1/routines/${id}`);
  expect(active.data).toMatchObject({ state: 'active', revision: 1 });
  expect(active.data.nextRunAt).toBe(active.data.nextRuns[0]);
  const patched = await key.patch(`/v1/routines/${id}`, { instructions: 'Write two lines.' });
  expect(patched.data).toMatchObject({ state: 'draft', revision: 2, nextRunAt: null });
  const again = await key.post(`/v1/routines/${id}/activate`);
  expect(again.status).toBe(409);
  expect(again.body.error.code).toBe('successful_run_required');
});

test('a run can be started without any body', async ({ key }) => {
  const routineId = await createRoutine(key);
  const started = await key.send('POST', `/v1/routines/${routineId}/run`);
  expect(started.status).toBe(202);
  expect(started.data).toMatchObject({ state: 'queued', variables: {} });
});

test('a model that keeps refusing fails the run with a plain reason, and its step with it', async ({
  service,
  key,
}) => {
  service.gateway.control.script({
    marker: 'refused-for-good',
    times: null,
    behaviour: { kind: 'error', status: 403 },
  });
  const routineId = await createRoutine(key, { instructions: 'refused-for-good' });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({
    state: 'failed',
    reason: 'model_key_refused',
    errorMessage: 'The model provider answered 403. It said: Scripted failure.',
    result: null,
    stepCount: 0,
    usage: { totalTokens: 0, costUsd: null },
  });
  expect(run.steps).toHaveLength(1);
  expect(run.steps[0]).toMatchObject({
    state: 'failed',
    attempt: 1,
    errorMessage: run.errorMessage,
  });
});
