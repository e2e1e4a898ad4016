import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { proves } from '#test/support/proves.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

const START = {
  instructions: 'Write about {{topic}}.',
  variables: { topic: 'tea', spare: 'x' },
  skills: ['seo-audit', 'content-strategy'],
};

const LIST = { type: 'array', items: { type: 'string' } };

test.for<[string, Record<string, unknown>]>([
  ['other instructions', { instructions: 'Write more about {{topic}}.' }],
  ['another value of a variable', { variables: { topic: 'coffee', spare: 'x' } }],
  ['one variable less', { variables: { topic: 'tea' } }],
  ['another model', { model: { provider: 'gateway', connectionId: null, modelId: 'fixture/free' } }],
  ['a skill more', { skills: ['seo-audit', 'content-strategy', 'core-web-vitals'] }],
  ['a skill less', { skills: ['seo-audit'] }],
  ['the skills in another order', { skills: ['content-strategy', 'seo-audit'] }],
  ['a limit', { limits: { maxSteps: 3 } }],
  ['whether the last result is carried', { carryResult: false }],
  ['a built-in tool', { builtInTools: ['calculate'] }],
  ['whether the outcome has to be stated', { outcome: 'required' }],
  ['a check', { checks: [{ type: 'result_not_empty' }] }],
  ['a gate', { gate: { url: 'http://127.0.0.1:4999/feed' } }],
  ['a schema of the result', { resultSchema: { type: 'object' } }],
  ['which values a run may be given', { overridable: [] }],
  ['what identifies its items', { resultSchema: LIST, resultKey: { list: '', key: '' } }],
])(
  '%s is material: the routine is a draft again and needs a fresh run',
  proves('state.material-change', 'PATCH /v1/routines/:routineId', '409 successful_run_required'),
  async ([_name, patch], { key }) => {
    const id = await activeRoutine(key, START);
    const patched = await key.patch(`/v1/routines/${id}`, patch);
    expect(patched.data).toMatchObject({ state: 'draft', revision: 2, nextRunAt: null });
    const refused = await key.post(`/v1/routines/${id}/activate`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'successful_run_required']);
    await runOnce(key, id);
    const active = await key.post(`/v1/routines/${id}/activate`);
    expect([active.status, active.data.state]).toEqual([200, 'active']);
  },
);

test('what is not material leaves an active routine active', async ({ key }) => {
  const id = await activeRoutine(key, START);
  for (const patch of [
    { name: 'Another name' },
    { schedule: '15 8 * * *' },
    { timezone: 'Europe/Berlin' },
    { startsAt: '2027-01-01T00:00:00Z', endsAt: '2199-01-01T00:00:00Z' },
    { skipDates: ['2027-01-05', '2027-01-04'] },
    { jitterSeconds: 600 },
    { overlap: 'allow' },
    { misfire: 'skip' },
    { webhookUrl: 'http://127.0.0.1:4999/' },
    { deliver: 'failed' },
    { budget: { maxTokensPerDay: 1_000 } },
    { pauseAfterFailures: 2 },
    // The same values again are no material change.
    { ...START, limits: { maxSteps: 25 }, carryResult: true, builtInTools: [] },
    { outcome: 'optional', checks: [] },
  ]) {
    const patched = await key.patch(`/v1/routines/${id}`, patch);
    expect(patched.data).toMatchObject({ state: 'active', revision: 1 });
    const { nextRunAt, nextRuns } = (await key.get(`/v1/routines/${id}`)).data;
    expect(nextRunAt).toBe(nextRuns[0]);
  }
});

test('a paused routine that is changed materially is a draft too', proves('state.material-change'), async ({ key }) => {
  const id = await activeRoutine(key, START);
  await key.post(`/v1/routines/${id}/pause`);
  const patched = await key.patch(`/v1/routines/${id}`, { skills: [] });
  expect(patched.data).toMatchObject({ state: 'draft', revision: 2 });
});

test('a run that was under way during the change is no proof after it', async ({ service, key }) => {
  const { gateway } = service;
  const id = await createRoutine(key, START);
  gateway.control.reset();
  const release = gateway.control.hold();
  const started = await key.post(`/v1/routines/${id}/run`);
  const readRun = async () => (await key.get(`/v1/runs/${started.data.id}`)).data;
  // The model was asked before the change, so the run uses the routine's earlier version.
  const asked = () => gateway.control.requests().filter(({ path }) => path.includes('/chat/'));
  await expect.poll(asked).toHaveLength(1);
  await key.patch(`/v1/routines/${id}`, { instructions: 'Something else.' });
  expect((await readRun()).state).toBe('running');

  release();
  expect(await runEnded(key, started.data.id)).toMatchObject({
    state: 'succeeded',
    routineRevision: 1,
    prompt: expect.stringContaining('Write about tea.'),
  });
  const refused = await key.post(`/v1/routines/${id}/activate`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'successful_run_required']);
});

test(
  'a run detail has its steps, its usage and its webhook deliveries',
  proves('run.detail', 'GET /v1/runs/:runId', 'POST /v1/routines/:routineId/run'),
  async ({ key }) => {
    const id = await createRoutine(key, { webhookUrl: 'http://127.0.0.1:4999/' });
    const run = await runOnce(key, id);
    expect(run.steps).toHaveLength(1);
    expect(run.usage.totalTokens).toBeGreaterThan(0);
    expect(run.webhookDeliveries).toMatchObject([{ eventType: 'run.succeeded' }]);
  },
);
