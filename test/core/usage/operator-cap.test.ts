import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({
  worker: true,
  env: { MAX_COST_USD_PER_ORGANIZATION: '0.0000001' },
});

test('the operator’s limit for an organization holds above its owner’s, before a model is called', async ({
  service,
  ada,
  key,
}) => {
  const path = `/v1/organizations/${ada.organizationId}`;
  const allowed = await ada.session.patch(path, { budget: { maxCostUsdPerMonth: '1000' } });
  expect(allowed.data.budget.maxCostUsdPerMonth).toBe('1000');
  const calls = () =>
    service.gateway.control.requests().filter(({ body }) => body !== undefined && body !== null).length;
  const before = calls();
  const run = await runOnce(key, await createRoutine(key));
  expect(run).toMatchObject({ state: 'failed', reason: 'blocked_budget', stepCount: 0 });
  expect(calls()).toBe(before);
});
