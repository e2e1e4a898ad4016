import { expect } from 'vitest';
import { changeRuns } from '#test/support/given.ts';
import { createRoutine } from '#test/support/routines.ts';
import { signUp } from '#test/support/people.ts';
import { typedRoutine } from '#test/core/execution/results/world.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();
const UNTYPED = { resultSchema: null, resultKey: null };

test('the palette does with the open routine what its menu does, after the same question', async ({
  visit,
  person,
}) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await createRoutine(client, { name: 'Harbour watch' });
  const { page, expectClean } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByRole('heading', { name: 'Harbour watch' }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('archive');
  await page.getByRole('option', { name: /^Archive/ }).waitFor();
  await page.keyboard.press('Enter');
  const question = page.getByRole('dialog', { name: 'Archive Harbour watch?' });
  await question.getByText('The routine runs no more').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect((await client.get(`/v1/routines/${id}`)).data.state).toBe('draft');
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await question.getByRole('button', { name: 'Archive routine' }).click();
  await page.getByText('Routine archived').waitFor();
  await page.getByRole('button', { name: 'Run now' }).and(page.locator('[aria-disabled=true]')).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('run now');
  // The menu offers no operation that an archived routine does not permit.
  await page.getByText('Nothing fits.').waitFor();
  await expectClean();
});

test('an error of what was asked for stands in its dialog, which stays', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await createRoutine(client, { name: 'Harbour watch' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  const question = page.getByRole('dialog', { name: 'Pause this routine?' });
  await question.getByRole('checkbox', { name: 'Also cancel the runs that are open' }).waitFor();
  await client.delete(`/v1/routines/${id}`);
  await question.getByRole('button', { name: 'Pause routine' }).click();
  await question.getByRole('alert').waitFor();
});

test('the good run of a draft leads to a routine that runs by itself', async ({ service, visit, person }) => {
  const key = await person.key();
  const watch = await typedRoutine(service, key, { ...UNTYPED, name: 'Harbour watch' });
  const { id } = await watch.run('All quays are free.');
  const { page, expectClean } = await visit(`/p/${person.projectId}/runs/${id}`, { as: person });
  const offer = page.getByRole('region', { name: 'Next step' });
  await offer.getByText('Every day at 07:00').waitFor();
  await offer.getByText('No one gets mail, not even when a run fails.').waitFor();
  await expectClean();
  await offer.getByRole('link', { name: 'Who gets the results' }).click();
  await page.getByRole('textbox', { name: /^Webhook/ }).waitFor();
  await page.goBack();
  await offer.getByRole('button', { name: 'Activate' }).click();
  await offer.waitFor({ state: 'detached' });
  expect((await key.get(`/v1/routines/${watch.id}`)).data.state).toBe('active');
});

test('a failure before a later success says so and comes after open problems', async ({ service, visit }) => {
  const reader = await signUp(service);
  const key = await reader.key();
  const watch = await typedRoutine(service, key, { ...UNTYPED, name: 'Sign-up page' });
  await watch.run('All six pages answer.');
  const alarm = await watch.run('The sign-up page answers 404.');
  await changeRuns(service.deps.database, alarm.id, { state: 'failed', result: null });
  const other = await typedRoutine(service, key, { ...UNTYPED, name: 'Weekly report' });
  await other.run('Week 46.');
  await watch.run('All six pages answer.');
  const { page } = await visit(`/p/${reader.projectId}`, { as: reader });
  const rows = page.getByRole('region', { name: 'New results' }).locator('[data-run]');
  await rows.filter({ hasText: 'Sign-up page' }).getByText('All six pages answer.').waitFor();
  expect(await rows.getByRole('link').allTextContents()).toEqual(['Weekly report', 'Sign-up page']);
});
