import { expect } from 'vitest';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';
import { pressAtOnce } from './support/keys.ts';

const test = dashboardTest().extend('key', { scope: 'file' }, ({ person }) => person.key());

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
  await page.getByRole('button', { name: 'Filter' }).click();
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
