import { expect } from 'vitest';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

test('a sentence fills the form of a new routine, says what it assumed, and saves nothing', async ({
  visit,
  person,
}) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
  const sentence = page.getByRole('textbox', { name: 'What should the routine do, and when?' });
  await sentence.fill('Every Monday at 8, watch our competitors and say what changed');
  expect(await page.getByRole('textbox', { name: 'Instructions' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Draft it' }).click();
  await page.getByText('“Every Monday at 8” means').waitFor();
  await page.getByText(/^Under its limits a run costs at most \$/).waitFor();
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  expect(await name.inputValue()).toBe('Watch our competitors and say what changed');
  await page.getByText('Competitor watch').first().waitFor();
  expect((await client.get('/v1/routines')).data).toEqual([]);
  await name.fill('Competitors');
  const understood = page.getByRole('list', { name: 'What was understood' });
  await understood.getByRole('button', { name: 'Change name: Competitors' }).waitFor();
  await understood.getByRole('button', { name: /^Change when: Every Monday at 08:00/ }).click();
  const words = page.getByRole('textbox', { name: /^In words/ });
  await expect.poll(() => words.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
  await words.fill('every other Tuesday at 9');
  await words.press('Enter');
  await page.getByText(/is counted from a day/).waitFor();
  await words.fill('weekdays at 7');
  await words.press('Enter');
  await understood.getByRole('button', { name: /07:00/ }).waitFor();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByRole('heading', { name: 'Competitors' }).waitFor();
  const [saved] = (await client.get('/v1/routines')).data;
  expect(saved).toMatchObject({ name: 'Competitors', schedule: '0 7 * * 1-5', skills: ['competitor-watch'] });
});

test('a time with two readings is asked for, and nothing is saved until a person has chosen one', async ({
  visit,
  person,
}) => {
  const { page } = await visit(`/p/${person.projectId}/routines/new`, { as: person });
  const sentence = page.getByRole('textbox', { name: 'What should the routine do, and when?' });
  const when = page.getByRole('button', { name: /^Change when:/ });
  for (const [words, shown] of [
    ['Watch our competitors every Monday at 8', /Every Monday at 08:00/],
    ['Watch our competitors every other Tuesday at 9', /No time yet/],
  ] as const) {
    await sentence.fill(words);
    await page.getByRole('button', { name: 'Draft it' }).click();
    await when.getByText(shown).waitFor();
  }
  await page.getByText(/“every other Tuesday” is counted from a day/).waitFor();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Choose when the routine runs.').waitFor();
  await page.getByRole('textbox', { name: /^In words/ }).fill('Tuesdays at 9');
  await page.getByRole('textbox', { name: /^In words/ }).press('Enter');
  await when.getByText(/Every Tuesday at 09:00/).waitFor();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByRole('heading', { name: /^Watch our competitors/ }).waitFor();
});

test('a blueprint asks for its slots, says which answer does not fit, and runs once', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/start`, { as: person });
  await page.getByRole('link', { name: /News of a subject/ }).click();
  await page.getByRole('textbox', { name: 'On which subject?' }).fill('Bees');
  const most = page.getByRole('spinbutton', { name: 'How many at most?' });
  await most.fill('90');
  await page.getByRole('button', { name: 'Create and run once' }).click();
  await page.getByText('must be a whole number from 1 to 20').waitFor();
  await most.fill('3');
  await page.getByRole('button', { name: 'Create and run once' }).click();
  await page.waitForURL(/\/runs\/run_/);
});
