import { expect } from 'vitest';
import { tick } from '#core/scheduling/index.ts';
import { ageWait } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { marker, requestsWith, type Json } from '#test/core/integrations/tools/support.ts';

// Runs share a budget, on a model whose list states a maximum that no response reaches.
const test = serviceTest({ worker: true, own: true });
const MODEL = {
  id: 'large/model',
  context_length: 1_000_000,
  top_provider: { max_completion_tokens: 128_000 },
  pricing: { prompt: '0.000001', completion: '0.000001' },
};
const model = { provider: 'gateway', connectionId: null, modelId: MODEL.id };

const shared = test.extend('held', async ({ service, key, ada }) => {
  service.gateway.control.script({
    target: 'models',
    behaviour: { kind: 'list', models: [MODEL] },
    times: null,
  });
  return async (maxTokensPerDay: number, limits: object = {}) => {
    await ada.session.patch(`/v1/projects/${ada.projectId}`, { budget: { maxTokensPerDay } });
    const mark = marker();
    const id = await createRoutine(key, { instructions: mark, model, overlap: 'allow', limits });
    const behaviour = { kind: 'text', text: 'Done.' } as const;
    const releases = [1, 2].map(() => service.gateway.control.hold({ marker: mark, behaviour }));
    const start = async () => (await key.post(`/v1/routines/${id}/run`)).data.id as string;
    return {
      start,
      sent: (): Json[] => requestsWith(service, mark).map(({ body }): Json => body),
      release: () => releases.forEach((each) => each()),
    };
  };
});

shared('two calls go out side by side where what is free is enough, each held to its part', async ({ held, key }) => {
  const { start, sent, release } = await held(200_000);
  const runs = [await start(), await start()];
  await expect.poll(sent).toHaveLength(2);
  const limits = sent().map(({ max_tokens: limit }) => limit);
  expect(limits[0]).toBe(128_000);
  expect(limits[1]).toBeGreaterThan(16_384);
  expect(limits[0] + limits[1]).toBeLessThan(200_000);
  release();
  for (const run of runs) expect(await runEnded(key, run)).toMatchObject({ state: 'succeeded' });
});

/** Starts a run whose call is held, and a run that waits for the budget that the first one reserves. */
const waiting = shared.extend('waiter', async ({ held, key, service }) => {
  return async (limits: object) => {
    const { start, sent, release } = await held(140_000, limits);
    const holder = await start();
    await expect.poll(sent).toHaveLength(1);
    const run = await start();
    const waitingFor = async () => (await key.get(`/v1/runs/${run}`)).data.waitingFor as string;
    await expect.poll(waitingFor).toBe('budget');
    const age = (interval: string) => expect.poll(() => ageWait(service.deps.database, run, interval)).toBe(true);
    return { holder, run, sent, release, age };
  };
});

waiting('the clock of a run stands still while it waits for its budget', async ({ waiter, service, key }) => {
  const { holder, run, release, age } = await waiter({ timeoutSeconds: 60 });
  await age('20 minutes');
  await tick(service.deps);
  expect((await key.get(`/v1/runs/${run}`)).data).toMatchObject({ state: 'running' });
  release();
  for (const id of [holder, run]) {
    expect(await runEnded(key, id)).toMatchObject({ state: 'succeeded', waitingFor: null });
  }
});

waiting('a run that waits for its budget longer than it may wait was not too slow itself', async ({ waiter, key }) => {
  const { run, release, age } = await waiter({ maxQueueSeconds: 60 });
  await age('2 minutes');
  const ended = await runEnded(key, run);
  expect(ended).toMatchObject({
    state: 'failed',
    reason: 'budget_exceeded',
    failureClass: 'routine',
  });
  expect(ended.errorMessage).toMatch(/^Other runs held what was left of a budget/);
  release();
});

waiting('a run that waits for its budget goes on when that is raised', async ({ waiter, ada, key }) => {
  const { run, release, sent } = await waiter({});
  const budget = { maxTokensPerDay: 1_000_000 };
  await ada.session.patch(`/v1/projects/${ada.projectId}`, { budget });
  await expect.poll(sent).toHaveLength(2);
  release();
  expect(await runEnded(key, run)).toMatchObject({ state: 'succeeded' });
});

waiting('a run that waits for its budget is cancelled at once', async ({ waiter, key }) => {
  const { holder, run, release, sent } = await waiter({});
  await key.post(`/v1/runs/${run}/cancel`);
  expect(await runEnded(key, run)).toMatchObject({ state: 'cancelled' });
  expect(sent()).toHaveLength(1);
  release();
  await runEnded(key, holder);
});
