import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { marker, requestsWith, type Json } from '#test/tools/support.ts';

// Runs that share a budget on a model whose list states a maximum that no response reaches.
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

shared(
  'two calls go out side by side where what is free is enough, each held to its part',
  async ({ held, key }) => {
    const { start, sent, release } = await held(200_000);
    const runs = [await start(), await start()];
    await expect.poll(sent).toHaveLength(2);
    const limits = sent().map(({ max_tokens: limit }) => limit);
    expect(limits[0]).toBe(128_000);
    expect(limits[1]).toBeGreaterThan(16_384);
    expect(limits[0] + limits[1]).toBeLessThan(200_000);
    release();
    for (const run of runs) expect(await runEnded(key, run)).toMatchObject({ state: 'succeeded' });
  },
);

shared(
  'a run that waited for its budget until its time was over was not too slow itself',
  async ({ held, key }) => {
    const { start, sent, release } = await held(140_000, { timeoutSeconds: 10 });
    await start();
    await expect.poll(sent).toHaveLength(1);
    const run = await runEnded(key, await start());
    expect(run).toMatchObject({
      state: 'failed',
      reason: 'budget_exceeded',
      failureClass: 'routine',
    });
    expect(run.errorMessage).toMatch(/^Other runs held what was left of a budget/);
    release();
  },
);
