import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { giveRole } from '#test/support/given.ts';

const test = serviceTest({ worker: true });

test.afterEach(({ service }) => service.gateway.control.reset());

test('a cost budget on a model without prices is refused, on create and on update', async ({ key }) => {
  const unpriced = { provider: 'gateway', connectionId: null, modelId: 'fixture/unpriced' };
  const budget = { maxCostUsdPerMonth: '5' };
  const id = await createRoutine(key, { model: unpriced });
  for (const refused of [
    await key.post('/v1/routines', routineBody({ model: unpriced, budget })),
    await key.patch(`/v1/routines/${id}`, { budget }),
  ]) {
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('budget.maxCostUsdPerMonth: '),
    });
  }
});

test.for(['organizations', 'projects'] as const)(
  'the budget of %s is changed field by field by its owner, and binds all runs in it',
  async (kind, { ada, bob, key }) => {
    const path = `/v1/${kind}/${kind === 'projects' ? ada.projectId : ada.organizationId}`;
    const before = await ada.session.get(path);
    expect(before.data.budget).toEqual({ maxTokensPerDay: null, maxCostUsdPerMonth: null });
    await ada.session.patch(path, { budget: { maxCostUsdPerMonth: '25.50' } });
    const changed = await ada.session.patch(path, { name: 'Ours', budget: { maxTokensPerDay: 1 } });
    expect(changed.data).toEqual({
      ...before.data,
      name: 'Ours',
      budget: { maxTokensPerDay: 1, maxCostUsdPerMonth: '25.5' },
    });
    expect((await ada.session.get(path)).data).toEqual(changed.data);
    expect(await runOnce(key, await createRoutine(key))).toMatchObject({
      state: 'failed',
      reason: 'blocked_budget',
      stepCount: 0,
    });
    const none = { maxTokensPerDay: null, maxCostUsdPerMonth: null };
    await ada.session.patch(path, { budget: none });
    expect(await runOnce(key, await createRoutine(key))).toMatchObject({ state: 'succeeded' });

    expect((await bob.session.get(path)).status).toBe(404);
    expect((await bob.session.patch(path, { budget: none })).status).toBe(404);
    expect((await key.get(path)).status).toBe(403);
  },
);

test('a member reads a budget and may not change it', async ({ service, ada, bob }) => {
  await giveRole(service.deps.database, ada.organizationId, bob.userId, 'member');
  for (const path of [`/v1/projects/${ada.projectId}`, `/v1/organizations/${ada.organizationId}`]) {
    expect((await bob.session.get(path)).status).toBe(200);
    const refused = await bob.session.patch(path, { budget: { maxTokensPerDay: 5 } });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
  }
});

test('usage is summed by day, routine and model, and over 366 days at most', async ({ key, bobsKey }) => {
  const id = await createRoutine(key);
  const run = await runOnce(key, id);
  const today = new Date().toISOString().slice(0, 10);
  const byRoutine = (await key.get('/v1/usage?groupBy=routine')).data;
  const { estimated: _estimated, ...used } = run.usage;
  expect(byRoutine.groups).toContainEqual({ key: id, ...used, steps: 1 });
  const byDay = (await key.get(`/v1/usage?from=${today}&to=${today}`)).data;
  expect(byDay).toMatchObject({ from: today, to: today, groupBy: 'day' });
  expect(byDay.groups).toEqual([{ key: today, ...byDay.total }]);
  const byModel = (await key.get('/v1/usage?groupBy=model')).data;
  expect(byModel.groups).toEqual([{ key: 'fixture/writer-small', ...byModel.total }]);
  expect((await bobsKey.get('/v1/usage')).data.groups).toEqual([]);
  for (const query of ['from=2025-01-01&to=2026-01-02', 'from=2026-01-02&to=2026-01-01']) {
    expect((await key.get(`/v1/usage?${query}`)).status).toBe(400);
  }
});

test('a day is split by the four routines that used most, and the others together', async ({ bobsKey }) => {
  const ids = [];
  for (let nth = 0; nth < 5; nth += 1) {
    const id = await createRoutine(bobsKey);
    for (let run = 0; run < (nth === 0 ? 1 : 2); run += 1) await runOnce(bobsKey, id);
    ids.push(id);
  }
  const [day] = (await bobsKey.get('/v1/usage?splitBy=routine')).data.groups;
  expect(day.parts).toHaveLength(5);
  const [least, ...most] = ids;
  const keys = day.parts.map((part: { key: string | null }) => part.key);
  expect(new Set(keys)).toEqual(new Set([...most, null]));
  expect(keys).not.toContain(least);
  const tokens = day.parts.reduce((sum: number, part: { totalTokens: number }) => sum + part.totalTokens, 0);
  expect(tokens).toBe(day.totalTokens);
  const refused = await bobsKey.get('/v1/usage?groupBy=model&splitBy=routine');
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('splitBy')]);
});
