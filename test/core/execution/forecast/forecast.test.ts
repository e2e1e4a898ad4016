import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { changeRoutines, plantPeriod, plantUsage, spendToday } from '#test/support/given.ts';

const test = serviceTest({ worker: true, env: { MAX_COST_USD_PER_ORGANIZATION: '500' } });

test.afterEach(({ service }) => service.gateway.control.reset());

/** Makes the gateway state this usage for each call. */
function usage(prompt: number, completion: number) {
  return {
    times: null,
    behaviour: {
      kind: 'usage' as const,
      usage: { prompt_tokens: prompt, completion_tokens: completion },
    },
  };
}

const STRICT = { refuseOverBudget: true };

const unpriced = { provider: 'gateway', connectionId: null, modelId: 'fixture/unpriced' };

test('a draft without a run is forecast by what its limits allow', async ({ key }) => {
  const limits = { maxSteps: 2, maxTotalTokens: 10_000, maxOutputTokens: 1_000 };
  const id = await createRoutine(key, { schedule: '0 7 * * *', limits });
  const { status, data } = await key.get(`/v1/routines/${id}/forecast`);
  expect(status).toBe(200);
  // A run may use at most 8,000 tokens of input and 2,000 of output.
  const most = { tokens: 10_000, costUsd: '0.0024' };
  expect(data).toMatchObject({
    routineId: id,
    revision: 1,
    occurrences: { count: 30 },
    perRun: { basis: 'limits', sampleSize: 0, pricing: 'directory', p50: most, p95: most },
    total: { p50: { tokens: 300_000, costUsd: '0.072' } },
    runsOut: null,
  });
  expect(data.limits).toMatchObject([
    { scope: 'operator', limit: 'maxCostUsdPerMonth', max: '500', runsOutOn: { p95: null } },
    { scope: 'plan', limit: 'runsPerPeriod', max: '200000', runsOutOn: { p95: null } },
  ]);
});

test('a forecast takes the proof run, and then the percentiles of the version’s runs', async ({ service, key }) => {
  const id = await createRoutine(key, { schedule: '0 7 * * *' });
  service.gateway.control.script(usage(600, 400));
  await runOnce(key, id);
  const once = (await key.get(`/v1/routines/${id}/forecast`)).data;
  const each = { tokens: 1_000, costUsd: '0.00033' };
  expect(once.perRun).toMatchObject({ basis: 'proof_run', sampleSize: 1, p50: each, p95: each });
  for (const prompt of [100, 200, 1_600]) {
    service.gateway.control.reset();
    service.gateway.control.script(usage(prompt, 400));
    await runOnce(key, id);
  }
  const later = (await key.get(`/v1/routines/${id}/forecast`)).data;
  expect(later.perRun).toMatchObject({
    basis: 'version_runs',
    sampleSize: 4,
    p50: { tokens: 600, costUsd: '0.00027' },
    p95: { tokens: 2_000, costUsd: '0.00048' },
  });
  expect(later.total.p95).toEqual({ tokens: 60_000, costUsd: '0.0144' });
  // A limit is compared with the careful figure, p95, and not with p50.
  await spendToday(service.deps.database, id, 0);
  await key.patch(`/v1/routines/${id}`, { budget: { maxTokensPerDay: 1_500 } });
  const tight = (await key.get(`/v1/routines/${id}/forecast`)).data;
  expect(tight.limits[0]).toMatchObject({ scope: 'routine', runsOutOn: { p50: null } });
  expect(tight.limits[0].runsOutOn.p95).toBe(tight.runsOut.on);
  const refused = await key.post(`/v1/routines/${id}/activate`, STRICT);
  expect(refused.body.error.code).toBe('forecast_over_budget');
  // Runs of another version do not count for this version.
  await key.patch(`/v1/routines/${id}`, { instructions: 'Write two lines.' });
  const changed = (await key.get(`/v1/routines/${id}/forecast`)).data;
  expect(changed.perRun).toMatchObject({ basis: 'limits', sampleSize: 0 });
});

test('a failed run that called its model counts, and one that never did does not', async ({ service, key }) => {
  const id = await createRoutine(key, { budget: { maxTokensPerDay: 100_000 } });
  service.gateway.control.script({
    behaviour: { kind: 'text', text: 'A begin', finishReason: 'length' },
  });
  expect(await runOnce(key, id)).toMatchObject({ state: 'failed' });
  await key.patch(`/v1/routines/${id}`, { budget: { maxTokensPerDay: 1 } });
  expect(await runOnce(key, id)).toMatchObject({ state: 'failed', reason: 'blocked_budget' });
  const { perRun } = (await key.get(`/v1/routines/${id}/forecast`)).data;
  expect(perRun).toMatchObject({ basis: 'version_runs', sampleSize: 1 });
  expect(perRun.p50.tokens).toBeGreaterThan(0);
});

test('activation warns of a budget that runs out, names it, its day and who may raise it, and is refused only where that is asked for', async ({
  service,
  ada,
  key,
}) => {
  service.gateway.control.script(usage(600, 400));
  const id = await createRoutine(key, {
    schedule: '0 */6 * * *',
    budget: { maxTokensPerDay: 3_500 },
  });
  await runOnce(key, id);
  const { limits, runsOut } = (await key.get(`/v1/routines/${id}/forecast`)).data;
  const routineLimit = limits.find(({ scope }: { scope: string }) => scope === 'routine');
  expect(routineLimit).toMatchObject({ max: '3500', used: '1000', othersPerDay: '0' });
  expect(runsOut).toMatchObject({ scope: 'routine', limit: 'maxTokensPerDay' });

  // `acceptForecast` of earlier releases does not weaken the strict check.
  const strict = { ...STRICT, acceptForecast: true };
  const refused = await key.post(`/v1/routines/${id}/activate`, strict);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'forecast_over_budget']);
  const { message } = refused.body.error;
  expect(message).toContain("the routine's budget.maxTokensPerDay of 3500 tokens");
  expect(message).toContain(runsOut.on);
  expect(message).toContain('raised by anyone who may change the routine');
  expect((await key.get(`/v1/routines/${id}`)).data.state).toBe('draft');

  const active = await key.post(`/v1/routines/${id}/activate`);
  expect([active.status, active.data.state]).toEqual([200, 'active']);
  expect(active.data.warnings).toEqual([{ code: 'forecast_over_budget', message }]);
  const events = (await ada.session.get(`/v1/audit-events?organizationId=${ada.organizationId}`)).data;
  expect(events.find(({ targetId }: { targetId: string }) => targetId === id)).toMatchObject({
    action: 'routine.activated',
    details: { revision: 1 },
  });
});

test('a raised budget ends the warning, and a schedule that runs more often begins it again', async ({
  service,
  key,
}) => {
  service.gateway.control.script(usage(600, 400));
  const budget = { maxCostUsdPerMonth: '0.001' };
  const id = await createRoutine(key, { schedule: '0 * * * *', budget });
  await runOnce(key, id);
  expect((await key.post(`/v1/routines/${id}/activate`, STRICT)).status).toBe(409);
  await key.patch(`/v1/routines/${id}`, { budget: { maxCostUsdPerMonth: '5' } });
  const active = await key.post(`/v1/routines/${id}/activate`, STRICT);
  expect([active.status, active.data.warnings]).toEqual([200, []]);
  const renamed = await key.patch(`/v1/routines/${id}`, { name: 'Another name' });
  expect(renamed.data.warnings).toEqual([]);
  const often = await key.patch(`/v1/routines/${id}`, { schedule: '* * * * *' });
  expect([often.status, often.data.state]).toEqual([200, 'active']);
  expect(often.data.warnings).toMatchObject([{ code: 'forecast_over_budget' }]);
});

test('an activation that cannot be made for another reason says that reason', async ({ key }) => {
  const id = await createRoutine(key, { budget: { maxTokensPerDay: 1 } });
  const refused = await key.post(`/v1/routines/${id}/activate`);
  expect(refused.body.error.code).toBe('successful_run_required');
});

test('the pace of other routines counts against a shared budget, and that of other projects only against the organization’s', async ({
  service,
  bob,
  bobsKey,
}) => {
  service.gateway.control.script(usage(600, 400));
  const id = await createRoutine(bobsKey, { schedule: '0 7 * * *' });
  await runOnce(bobsKey, id);
  const { database } = service.deps;
  const elsewhere = await bob.session.post('/v1/projects', {
    name: 'Other',
    organizationId: bob.organizationId,
  });
  expect(elsewhere.status).toBe(201);
  for (const [projectId, tokens, cost] of [
    [bob.projectId, 70_000, 1.4],
    [elsewhere.data.id, 7_000, 0.7],
  ] as const) {
    const used = { modelId: 'fixture/writer-small', inputTokens: tokens, costUsd: cost };
    const days = [1, 30].map((daysAgo) => ({ daysAgo, routineId: 'rtn_other', ...used }));
    await plantUsage(database, projectId, days);
  }
  const budget = { maxTokensPerDay: 14_000, maxCostUsdPerMonth: '20' };
  await bob.session.patch(`/v1/projects/${bob.projectId}`, { budget });
  await bob.session.patch(`/v1/organizations/${bob.organizationId}`, { budget });
  const { limits, runsOut } = (await bobsKey.get(`/v1/routines/${id}/forecast`)).data;
  const paces = limits.map((each: Record<string, string>) => [each['scope'], each['limit'], each['othersPerDay']]);
  expect(paces.slice(0, 5)).toEqual([
    ['project', 'maxTokensPerDay', '10000'],
    ['project', 'maxCostUsdPerMonth', '0.2'],
    ['organization', 'maxTokensPerDay', '11000'],
    ['organization', 'maxCostUsdPerMonth', '0.3'],
    ['operator', 'maxCostUsdPerMonth', '0.3'],
  ]);
  expect(runsOut).toBeNull();
  await bob.session.patch(`/v1/projects/${bob.projectId}`, { budget: { maxTokensPerDay: 10_500 } });
  const tighter = (await bobsKey.get(`/v1/routines/${id}/forecast`)).data;
  expect(tighter.runsOut).toMatchObject({ scope: 'project', limit: 'maxTokensPerDay' });
});

test('the pace of an organization is that of its last two periods, less the routine’s own', async ({ service }) => {
  const person = await signUp(service);
  const key = await person.key();
  const id = await createRoutine(key, { schedule: '0 7 * * *' });
  await plantPeriod(service.deps.database, person.organizationId, { daysAgo: 40, runs: 400 });
  const paceOfOthers = async () => {
    const { limits } = (await key.get(`/v1/routines/${id}/forecast`)).data;
    const plan = limits.find(({ scope }: Record<string, string>) => scope === 'plan');
    return Number(plan.othersPerDay);
  };
  expect(await paceOfOthers()).toBeCloseTo(10, 1);
  service.gateway.control.script(usage(600, 400));
  await runOnce(key, id);
  // The routine's own run, one in seven days, is not counted.
  expect(await paceOfOthers()).toBeCloseTo(10 + 1 / 40 - 1 / 7, 1);
});

test('a routine that is due each minute on a model without prices has tokens and no cost', async ({ service, key }) => {
  const id = await createRoutine(key, { schedule: '* * * * *', model: unpriced });
  service.gateway.control.script(usage(600, 400));
  await changeRoutines(service.deps.database, id, { maxSteps: 1 });
  const { status, data } = await key.get(`/v1/routines/${id}/forecast`);
  expect(status).toBe(200);
  expect(data.occurrences.count).toBe(43_200);
  expect(data.perRun).toMatchObject({ basis: 'limits', pricing: 'unpriced' });
  expect(data.perRun.p50).toEqual({ tokens: 8_000, costUsd: null });
  expect(data.total.p95).toEqual({ tokens: 43_200 * 8_000, costUsd: null });
  // The operator's cost limit would refuse even the first run.
  expect(data.runsOut).toMatchObject({ scope: 'operator' });
});

test('a forecast needs no gateway: without its prices it takes what the runs have cost', async ({ service, key }) => {
  service.gateway.control.script(usage(600, 400));
  const id = await createRoutine(key, { schedule: '0 7 * * *' });
  await runOnce(key, id);
  await changeRoutines(service.deps.database, id, { modelId: 'gone/model' });
  const { status, data } = await key.get(`/v1/routines/${id}/forecast`);
  expect(status).toBe(200);
  expect(data.perRun).toMatchObject({ pricing: 'recorded', p50: { costUsd: '0.00033' } });
});

test('an archived routine has no occurrences, and a routine of another project no forecast', async ({
  key,
  bobsKey,
}) => {
  const id = await createRoutine(key);
  expect((await bobsKey.get(`/v1/routines/${id}/forecast`)).body.error.code).toBe('routine_not_found');
  await key.delete(`/v1/routines/${id}`);
  const { status, data } = await key.get(`/v1/routines/${id}/forecast`);
  expect(status).toBe(200);
  expect(data.occurrences).toEqual({ count: 0, first: null, last: null });
  expect(data.total.p95).toMatchObject({ tokens: 0 });
  expect(data.runsOut).toBeNull();
});
