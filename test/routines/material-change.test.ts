import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';

let service: Service;
let key: ApiClient;

beforeAll(async () => {
  service = await startService({ worker: true });
  key = await (await signUp(service)).key();
});
afterAll(() => service.close());

const START = {
  instructions: 'Write about {{topic}}.',
  variables: { topic: 'tea', spare: 'x' },
  skills: ['seo-audit', 'content-strategy'],
};

test.each<[string, Record<string, unknown>]>([
  ['other instructions', { instructions: 'Write more about {{topic}}.' }],
  ['another value of a variable', { variables: { topic: 'coffee', spare: 'x' } }],
  ['one variable less', { variables: { topic: 'tea' } }],
  [
    'another model',
    { model: { provider: 'gateway', connectionId: null, modelId: 'fixture/free' } },
  ],
  ['a skill more', { skills: ['seo-audit', 'content-strategy', 'core-web-vitals'] }],
  ['a skill less', { skills: ['seo-audit'] }],
  ['the skills in another order', { skills: ['content-strategy', 'seo-audit'] }],
  ['a limit', { limits: { maxSteps: 3 } }],
])(
  '%s is material: the routine is a draft again and needs a fresh run',
  proves('state.material-change', 'PATCH /v1/routines/:routineId', '409 successful_run_required'),
  async (_name, patch) => {
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

test('what is not material leaves an active routine active', async () => {
  const id = await activeRoutine(key, START);
  for (const patch of [
    { name: 'Another name' },
    { schedule: '15 8 * * *' },
    { timezone: 'Europe/Berlin' },
    { overlap: 'allow' },
    { misfire: 'skip' },
    { webhookUrl: 'http://127.0.0.1:4999/' },
    { budget: { maxTokensPerDay: 1_000 } },
    { pauseAfterFailures: 2 },
    // The same values again are no change.
    { ...START, limits: { maxSteps: 25 } },
  ]) {
    const patched = await key.patch(`/v1/routines/${id}`, patch);
    expect(patched.data).toMatchObject({ state: 'active', revision: 1 });
    const { nextRunAt, nextRuns } = (await key.get(`/v1/routines/${id}`)).data;
    expect(nextRunAt).toBe(nextRuns[0]);
  }
});

test(
  'a paused routine that is changed materially is a draft too',
  proves('state.material-change'),
  async () => {
    const id = await activeRoutine(key, START);
    await key.post(`/v1/routines/${id}/pause`);
    const patched = await key.patch(`/v1/routines/${id}`, { skills: [] });
    expect(patched.data).toMatchObject({ state: 'draft', revision: 2 });
  },
);

test('a run that was under way during the change is no proof after it', async () => {
  const id = await createRoutine(key, START);
  service.gateway.control.script({ latencyMs: 1_500 });
  const started = await key.post(`/v1/routines/${id}/run`);
  const prompt = async () => (await key.get(`/v1/runs/${started.data.id}`)).data.prompt;
  await expect.poll(prompt, { timeout: 10_000 }).not.toBeNull();
  await key.patch(`/v1/routines/${id}`, { instructions: 'Something else.' });
  await expect
    .poll(async () => (await key.get(`/v1/runs/${started.data.id}`)).data.state, {
      timeout: 20_000,
    })
    .toBe('succeeded');
  expect((await key.get(`/v1/runs/${started.data.id}`)).data.routineRevision).toBe(1);
  expect((await key.post(`/v1/routines/${id}/activate`)).status).toBe(409);
});

test(
  'a run detail has its steps, its usage and its webhook deliveries',
  proves('run.detail', 'GET /v1/runs/:runId', 'POST /v1/routines/:routineId/run'),
  async () => {
    const id = await createRoutine(key, { webhookUrl: 'http://127.0.0.1:4999/' });
    const run = await runOnce(key, id);
    expect(run.steps).toHaveLength(1);
    expect(run.usage.totalTokens).toBeGreaterThan(0);
    expect(run.webhookDeliveries).toMatchObject([{ eventType: 'run.succeeded' }]);
  },
);
