import { expect } from 'vitest';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { signUp } from '#test/support/people.ts';
import { marker } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './support/fixtures.ts';
import { pressAtOnce } from './support/keys.ts';
import { failing, forbidding, holding, photograph } from './support/photograph.ts';
import { plantSkipped } from '#test/support/given.ts';

const test = dashboardTest().extend('key', { scope: 'file' }, ({ person }) => person.key());

const HOUR_MS = 3_600_000;

test('the list of runs in all its states', async ({ service, person, key, visit }) => {
  const { database } = service.deps;
  const mark = marker();
  service.gateway.control.script({
    marker: mark,
    behaviour: { kind: 'text', text: '## Two pages are gone\n\nSee below.' },
  });
  const audit = await createRoutine(key, { name: 'Weekly site audit', instructions: mark });
  await runOnce(key, audit);
  const sources = await createRoutine(key, {
    name: 'Sources that competitors cite on their pricing pages',
    checks: [{ type: 'distinct_sources', atLeast: 3 }],
  });
  await runOnce(key, sources);
  const watch = await createRoutine(key, { name: 'Feed watch' });
  // Occurrences that were passed over, as the scheduler records them.
  const start = Date.now() - 6 * HOUR_MS;
  for (const [hour, count] of [
    [0, 3],
    [3, 2],
  ] as const) {
    const from = new Date(start + hour * HOUR_MS);
    const until = new Date(start + (hour + count - 1) * HOUR_MS);
    await plantSkipped(database, watch, from, { skippedCount: count, skippedUntil: until });
  }
  const newcomer = await signUp(service);
  const runs = `/p/${person.projectId}/runs`;
  await photograph(visit, 'runs', [
    { as: person, path: runs, name: 'full' },
    { as: person, path: `${runs}?state=failed&trigger=manual`, name: 'filtered' },
    { as: person, path: `${runs}?state=cancelled`, name: 'nothing-fits' },
    { as: newcomer, path: `/p/${newcomer.projectId}/runs`, name: 'empty' },
    { as: person, path: runs, name: 'loading', before: holding('/v1/runs'), loading: true },
    { as: person, path: runs, name: 'failed', before: failing('/v1/runs') },
    { as: person, path: runs, name: 'forbidden', before: forbidding('/v1/runs') },
  ]);

  const { page } = await visit(runs, { as: person });
  const skipped = page.getByRole('row', { name: /Feed watch/ });
  await skipped.waitFor();
  await expect.poll(() => skipped.count()).toBe(1);
  await skipped.getByText('×5').waitFor();
});

test('a filter goes into the address, Back takes it away, and a new run appears by itself', async ({
  person,
  key,
  visit,
}) => {
  const routineId = await createRoutine(key, { name: 'Only just made' });
  const { page, complaints } = await visit(`/p/${person.projectId}/runs?state=running`, {
    as: person,
  });
  await page.getByText('No run fits these filters').waitFor();
  await page.getByRole('combobox', { name: 'State' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Succeeded' }).waitFor();
  await pressAtOnce(page, ['s', 'u', 'Enter']);
  await page.waitForURL(/\?state=succeeded$/);
  await runOnce(key, routineId);
  const row = page.getByRole('link', { name: 'Only just made' });
  await row.waitFor();
  await page.goBack();
  await page.waitForURL(/\?state=running$/);
  await page.getByRole('button', { name: 'Show all runs' }).click();
  await row.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs\/run_/);
  expect(complaints).toEqual([]);
});
