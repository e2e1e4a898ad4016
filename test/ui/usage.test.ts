import { signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { failing, holding, photograph } from './support/photograph.ts';
import { plantUsage } from '#test/support/given.ts';

const test = dashboardTest();

test('the page of usage in all its states', async ({ service, visit }) => {
  const full = await signUp(service);
  const empty = await signUp(service);
  const models = { 'writer-large': 4, 'writer-small': 2, judge: 1, ranker: 1, embedder: 1, old: 1 };
  const days = Array.from({ length: 30 }, (_, day) => day).filter((day) => day % 7 !== 6);
  const used = days.flatMap((day) =>
    Object.entries(models).map(([model, weight]) => ({
      daysAgo: day,
      routineId: `rtn_${model}`,
      modelId: `fixture/${model}`,
      inputTokens: (((day * 7_919) % 9_000) + 2_000) * weight,
      outputTokens: (((day * 3_571) % 900) + 100) * weight,
      costUsd: weight * 0.0123,
      steps: weight,
    })),
  );
  await plantUsage(service.deps.database, full.projectId, used);
  const pathOf = (who: typeof full) => `/p/${who.projectId}/usage`;
  const seen = await visit(`${pathOf(full)}?by=routine&days=7`, { as: full });
  await seen.page.getByRole('table', { name: 'Usage by routine' }).waitFor();
  await seen.page.getByRole('combobox', { name: 'Time' }).click();
  await seen.page.getByRole('option', { name: 'Last 90 days' }).click();
  await seen.page.waitForURL(/days=90/);
  await seen.page.goBack();
  await seen.page.waitForURL(/days=7/);
  await photograph(visit, 'usage', [
    {
      name: 'full',
      path: pathOf(full),
      as: full,
      act: (page) => page.getByRole('img', { name: /Tokens a day/ }).waitFor(),
    },
    { name: 'empty', path: pathOf(empty), as: empty },
    { name: 'loading', path: pathOf(full), as: full, before: holding('/v1/usage'), loading: true },
    { name: 'failed', path: pathOf(full), as: full, before: failing('/v1/usage') },
  ]);
});
