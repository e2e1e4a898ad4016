import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

test('an error of the server is shown at its field', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
  await page.getByRole('button', { name: 'Write it yourself' }).click();
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Write one line.');
  await page.getByRole('combobox', { name: 'Runs' }).click();
  await page.getByRole('option', { name: 'Cron' }).click();
  await page.getByRole('textbox', { name: 'Cron' }).fill('61 * * * *');
  await page.getByRole('button', { name: 'Save draft' }).click();
  // Other alerts do not count: the preview of the next times rejects the earlier schedule.
  const invalid = page.locator('[aria-invalid=true]');
  await page.getByRole('textbox', { name: 'Name' }).and(invalid).waitFor();
});

test('an untouched new routine says what it needs, in words for people', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
  await page.getByRole('button', { name: 'Write it yourself' }).click();
  await page.getByRole('combobox', { name: 'Model' }).waitFor();
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.getByText('Enter the name.').waitFor();
  await page.getByText('Enter the instructions.').waitFor();
});

test.runIf(FULL_SIZE)(
  'a schedule with two day fields is described as it runs, before and after it is saved',
  async ({ visit, person }) => {
    const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
    await page.getByRole('button', { name: 'Write it yourself' }).click();
    await page.getByRole('combobox', { name: 'Runs' }).click();
    await page.getByRole('option', { name: 'Cron' }).click();
    await page.getByRole('textbox', { name: 'Cron' }).fill('0 9 1-7 * 1');
    const words = 'On the 1st to 7th, and also every Monday, at 09:00';
    await page.getByText(words).waitFor();
    await page
      .getByRole('status')
      .getByText(/a day needs to match only one of day of month and day of week/)
      .waitFor();
    const client = person.session.with({ 'X-Project-Id': person.projectId });
    const id = await createRoutine(client, { name: 'Either', schedule: '0 9 1-7 * 1' });
    await page.goto(new URL(`/p/${person.projectId}/routines/${id}`, page.url()).href);
    await page.getByText(words).first().waitFor();
    await page.getByText(/a day needs to match only one of day of month and day of week/).waitFor();
  },
);

test.runIf(FULL_SIZE)(
  'a new routine has a model that is good for most, and its settings are folded',
  async ({ visit, person }) => {
    const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
    await page.getByRole('button', { name: 'Write it yourself' }).click();
    await page.getByText(/^A run that reads 20k tokens/i).waitFor();
    const limits = page.getByRole('button', { name: /^Limits/ });
    expect(await limits.count()).toBe(0);
    await page.getByRole('button', { name: 'Advanced' }).click();
    await limits.waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('By itself');
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Write one line.');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('heading', { name: 'By itself' }).waitFor();
  },
);

test.runIf(FULL_SIZE)('times are written in hours and minutes', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await createRoutine(client);
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/edit`, { as: person });
  await page.getByRole('button', { name: /^When/ }).click();
  const longest = page.getByRole('textbox', { name: 'Longest wait' });
  const unit = page.getByRole('combobox', { name: 'Unit of longest wait' });
  expect([await longest.inputValue(), await unit.textContent()]).toEqual(['6', 'hours']);
  await unit.click();
  await page.getByRole('option', { name: 'minutes' }).click();
  await longest.fill('90');
  await save(page);
  await page.getByText('Nothing has changed.').first().waitFor();
  const { data } = await client.get(`/v1/routines/${id}`);
  expect(data.limits.maxQueueSeconds).toBe(5_400);
});

test('two tabs that change the same thing are shown both, and one is chosen', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await createRoutine(client, { name: 'Shared', instructions: 'The first words.' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/edit`, { as: person });
  const instructions = page.getByRole('textbox', { name: 'Instructions' });
  await instructions.fill('My words.');
  await client.patch(`/v1/routines/${id}`, { instructions: 'Their words.', name: 'Renamed' });
  await save(page);
  const dialog = page.getByRole('dialog', { name: 'Another user has saved this routine' });
  await dialog.getByText('Their words.').waitFor();
  await dialog.getByText('My words.').waitFor();
  await dialog.getByRole('button', { name: 'Save what is chosen' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { data } = await client.get(`/v1/routines/${id}`);
  expect([data.instructions, data.name]).toEqual(['My words.', 'Renamed']);
});

test('a page with changes asks before it is left, and says that they return the routine to draft', async ({
  visit,
  person,
}) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await createRoutine(client, { name: 'Kept' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/edit`, { as: person });
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Other words.');
  await page.getByText(/Changed instructions/).waitFor();
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(page.url()).toMatch(/\/edit$/);
  await save(page);
  await page.getByText('Nothing has changed.').first().waitFor();
});

test.runIf(FULL_SIZE)('skills are put in order by the keyboard alone', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await createRoutine(client, { skills: ['seo-audit', 'core-web-vitals'] });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/edit`, { as: person });
  await page
    .getByRole('button', { name: /^Move .* down$/ })
    .first()
    .focus();
  await page.keyboard.press('Enter');
  await save(page);
  await page.getByText('Nothing has changed.').first().waitFor();
  const { data } = await client.get(`/v1/routines/${id}`);
  expect(data.skills).toEqual(['core-web-vitals', 'seo-audit']);
});

test.runIf(FULL_SIZE)(
  'the next times fit on a phone, however long the names of their zones are',
  async ({ visit, person }) => {
    const client = person.session.with({ 'X-Project-Id': person.projectId });
    const id = await createRoutine(client, { timezone: 'America/North_Dakota/New_Salem' });
    const path = `/p/${person.projectId}/routines/${id}/edit`;
    const { page } = await visit(path, { as: person, width: 360 });
    const table = page.getByRole('table', { name: 'The next times' });
    const widthOf = async (locator: Locator) => (await locator.boundingBox())!.width;
    await table.waitFor();
    expect(await widthOf(table)).toBeLessThanOrEqual(await widthOf(table.locator('..')));
  },
);

function save(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Save', exact: true }).click();
}
