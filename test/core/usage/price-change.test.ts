import { expect } from 'vitest';
import type { ModelOption } from '#core/models/directory/index.ts';
import { performModelStep, type ModelCaller } from '#core/execution/steps/index.ts';
import { plantRoutine } from '#test/core/scheduling/planted.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { changeProjects, plantRun } from '#test/support/given.ts';
import { modelResponse } from '#test/support/model-caller.ts';

const test = serviceTest({ own: true });

const CHEAP = { input: '0.000001', output: '0.00001', cachedInput: null };
const DEAR = { input: '0.0001', output: '0.001', cachedInput: null };

test('a step with a long prompt is reserved at the prices of long prompts', async ({ service }) => {
  const { database } = service.deps;
  const routine = await plantRoutine(database);
  await changeProjects(database, routine.projectId, { maxCostUsdPerMonth: 0.05 });
  const prices = { ...CHEAP, above: { inputTokens: 10, ...DEAR } };
  const models = {
    ...service.deps.models,
    find: async (...asked: Parameters<typeof service.deps.models.find>) =>
      ({ ...(await service.deps.models.find(...asked)), prices }) as ModelOption,
  };
  const runId = await plantRun(database, routine.id);
  const { signal } = new AbortController();
  await performModelStep({ ...service.deps, models }, { runId, index: 0 }, signal);
  const run = await database.row`select reason from runs where id = ${runId}`;
  expect(run).toEqual({ reason: 'blocked_budget' });
  expect(service.gateway.control.requests().map(({ path }) => path)).toEqual(['/v1/models']);
});

test('a price that rises while a call is out leaves that call its own, and binds the next one', async ({ service }) => {
  const { database } = service.deps;
  const routine = await plantRoutine(database);
  await changeProjects(database, routine.projectId, { maxCostUsdPerMonth: 0.05 });
  let prices = CHEAP;
  const models = {
    ...service.deps.models,
    find: async (projectId: string, reference: Parameters<typeof service.deps.models.find>[1]) => {
      const option = await service.deps.models.find(projectId, reference);
      return { ...option, prices } as ModelOption;
    },
  };
  let calls = 0;
  const caller: ModelCaller = {
    timeoutMs: 60_000,
    close: () => Promise.resolve(),
    call() {
      calls += 1;
      // The server's list has changed, and every step reads it again.
      prices = DEAR;
      return Promise.resolve(modelResponse('Done.', { outputTokens: 1_000 }));
    },
  };
  const perform = async () => {
    const runId = await plantRun(database, routine.id);
    const { signal } = new AbortController();
    await performModelStep({ ...service.deps, caller, models }, { runId, index: 0 }, signal);
    return database.row`select state, reason, cost_usd::float8 as cost from runs where id = ${runId}`;
  };

  // A hundred input and a thousand output tokens: 0.0101 US dollars as reserved, 1.01 at the new prices.
  expect(await perform()).toEqual({ state: 'succeeded', reason: null, cost: 0.0101 });
  expect(await perform()).toMatchObject({ state: 'failed', reason: 'blocked_budget' });
  expect(calls).toBe(1);
  const spent = await database.row`
    select month_cost_usd::float8 as cost, reserved_cost_usd::float8 as reserved from usage_totals
    where scope_id = ${routine.projectId}
  `;
  expect(spent).toEqual({ cost: 0.0101, reserved: 0 });
});
