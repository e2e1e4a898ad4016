import { expect } from 'vitest';
import { activeRoutine, createRoutine } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

const INSTRUCTIONS = `Write in **British English**. Keep sentences short.

- Say what changed and what to do about it
- Never use exclamation marks
- Numbers come with the date they were read`;

test('a skill is written, shown with who uses it, changed and deleted', async ({ visit, person }) => {
  const { page, expectClean, settled } = await visit(`/p/${person.projectId}/skills`, {
    as: person,
  });
  await page.getByText('No skills of your own yet').waitFor();
  await page.getByRole('button', { name: 'New skill' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New skill' });
  await dialog.getByLabel('Name').fill('House style');
  await dialog.getByLabel('Instructions').fill('Too short.');
  await dialog.getByText('10 of 20–24,000 characters').waitFor();
  await dialog.getByRole('button', { name: 'Create skill' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Instructions').fill(INSTRUCTIONS);
  await dialog.getByRole('button', { name: 'Create skill' }).click();
  await page.getByRole('link', { name: 'House style' }).click();
  await page.getByText('No routine yet.').waitFor();
  const skillId = new URL(page.url()).pathname.split('/').at(-1)!;
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  await createRoutine(session, { name: 'Weekly digest', skills: [skillId] });
  await page.reload();
  await page.getByRole('link', { name: 'Weekly digest' }).waitFor();
  await page.getByLabel('Description').fill('How we write.');
  await page.getByRole('link', { name: 'Skills', exact: true }).first().click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Save skill' }).click();
  await page.getByText('Skill saved').waitFor();
  expect((await session.get(`/v1/skills/${skillId}`)).data.description).toBe('How we write.');
  await settled();
  await expectClean();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 routine uses this skill, and continues without it').waitFor();
  await page.getByRole('button', { name: 'Delete skill' }).click();
  await page.waitForURL(/\/skills$/);
  await page.getByText('No skills of your own yet').waitFor();
  expect((await session.get(`/v1/skills/${skillId}`)).status).toBe(404);
});

test('routine and skill say which text runs, and lead to the newer one by a run', async ({ visit, person }) => {
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  const { data: skill } = await session.post('/v1/skills', {
    name: 'Tone',
    instructions: INSTRUCTIONS,
  });
  const id = await activeRoutine(session, { name: 'Weekly digest', skills: [skill.id] });
  await session.patch(`/v1/skills/${skill.id}`, { instructions: `${INSTRUCTIONS}\n- One more` });
  const { page } = await visit(`/p/${person.projectId}/skills/${skill.id}`, { as: person });
  await page.getByText('1 routine still runs revision 1.').waitFor();
  await page.getByRole('button', { name: 'Revision 2' }).click();
  await page.getByText('- One more').last().waitFor();

  await page.goto(`/p/${person.projectId}/routines/${id}`);
  await page.getByText('revision 1 of Tone, which is at 2').waitFor();
  await page.getByRole('button', { name: 'Run once', exact: true }).click();
  await expect.poll(async () => (await session.get(`/v1/routines/${id}`)).data.skillsBehind[0].proven).toBe(2);
  await page.reload();
  await page.getByRole('button', { name: 'Use the new text' }).click();
  await page.getByText('Scheduled runs now use the new text').waitFor();
  expect((await session.get(`/v1/routines/${id}`)).data.skillsBehind).toEqual([]);
  await page.getByText('revision 1 of Tone').waitFor({ state: 'detached' });
});

test('the catalogue is searched by the keyboard alone', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/skills`, { as: person });
  const search = page.getByRole('searchbox', { name: 'Search skills' });
  await search.focus();
  await page.keyboard.type('seo audit');
  await page.waitForURL(/search=seo(\+|%20)audit/);
  const link = page.getByRole('link', { name: 'SEO audit' });
  for (let presses = 0; presses < 10; presses += 1) {
    await page.keyboard.press('Tab');
    if (await link.evaluate((element) => element === element.ownerDocument.activeElement)) break;
  }
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'SEO audit' }).waitFor();
  await page.getByRole('link', { name: /Google Search Central/ }).waitFor();
  await page.goBack();
  await expect.poll(() => search.inputValue()).toBe('seo audit');
});
