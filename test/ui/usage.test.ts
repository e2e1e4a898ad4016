import { signUp } from '#test/support/people.ts';
import { execute, sql } from '#lib/database/index.ts';
import { dashboardTest } from './support/fixtures.ts';
import { failing, holding, photograph } from './support/photograph.ts';

const test = dashboardTest();

test('the page of usage in all its states', async ({ service, visit }) => {
  const full = await signUp(service);
  const empty = await signUp(service);
  await execute(
    service.deps.database,
    sql`
      insert into usage_days (project_id, day, routine_id, model_id, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd, steps)
      select ${full.projectId}, current_date - day, 'rtn_' || model, 'fixture/' || model,
        ((day * 7919) % 9000 + 2000) * weight, 0, ((day * 3571) % 900 + 100) * weight, 0, weight * 0.0123, weight
      from generate_series(0, 29) as days (day),
        (values ('writer-large', 4), ('writer-small', 2), ('judge', 1), ('ranker', 1), ('embedder', 1), ('old', 1)) as models (model, weight)
      where day % 7 <> 6
    `,
  );
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
