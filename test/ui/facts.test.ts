import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { signUp, type Person } from '#test/support/people.ts';
import { activeRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

const FACTS = `Brand terms: Acme, Acme Cloud
Gross margin: 62 %
Markets: Germany, Austria
Owner of paid search: Grace Hopper
Voice: plain, no exclamation marks`;
const NEWER = FACTS.replace('62 %', '58 %').replace(', Austria', '');

/** Makes a person whose project has had these texts as its facts, one after the other. */
async function personWith(service: Service, texts: readonly string[]) {
  const person = await signUp(service);
  await person.session.post('/auth/update-user', { name: 'Ada Lovelace' });
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  const write = (text: string) => session.put(apiOf(person), { text });
  for (const text of texts) expect((await write(text)).status).toBe(200);
  return { person, session, write };
}

function apiOf({ projectId }: Person): string {
  return `/v1/projects/${projectId}/facts`;
}

function tabOf({ projectId }: Person, version = ''): string {
  return `/p/${projectId}/settings?tab=facts${version === '' ? '' : `&version=${version}`}`;
}

function field(page: Page) {
  return page.getByRole('textbox', { name: 'Facts' });
}

test('facts are written, counted, and shown with what each version changed', async ({ service, visit }) => {
  const { person, session } = await personWith(service, []);
  const { page, settled, expectClean } = await visit(tabOf(person), { as: person });
  await page.getByText('No facts yet').waitFor();
  await field(page).fill('x'.repeat(24_001));
  await page.getByText('24,001 of 24,000 characters').waitFor();
  await page.getByRole('button', { name: 'Save facts' }).click();
  await page.getByRole('alert').first().waitFor();
  await field(page).fill(`${FACTS} \u{1F600}`);
  await page.getByText(`${FACTS.length + 2} of 24,000 characters`).waitFor();
  await page.getByRole('button', { name: 'Save facts' }).click();
  await page.getByText('Version 1 saved').waitFor();
  await field(page).fill(NEWER);
  await page.getByRole('link', { name: 'Skills', exact: true }).first().click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Save facts' }).click();
  await page.getByRole('button', { name: 'Version 2' }).click();
  await page.getByRole('region', { name: 'Version 2' }).getByText('Gross margin: 58 %').waitFor();
  expect((await session.get(apiOf(person))).data).toMatchObject({ version: 2, text: NEWER });
  await settled();
  await expectClean();
});

test('a routine is told facts by a switch, its run names them, and newer ones are taken over', async ({
  service,
  visit,
}) => {
  const { person, session, write } = await personWith(service, [FACTS]);
  const id = await activeRoutine(session, { name: 'Weekly digest' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/edit`, { as: person });
  await page.getByRole('button', { name: /^Results/ }).click();
  await page.getByRole('checkbox', { name: 'Project facts' }).click();
  await page.getByText('Changed project facts').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const run = await runOnce(session, id);
  await session.post(`/v1/routines/${id}/activate`);
  await write(NEWER);

  await page.goto(`/p/${person.projectId}/runs/${run.id}`);
  await page.getByRole('link', { name: 'Version 1' }).click();
  await page.getByRole('heading', { name: 'Project facts, version 1' }).waitFor();
  await page.getByText('Gross margin: 62 %').waitFor();
  await page.getByRole('link', { name: 'Newest version' }).click();
  await expect.poll(() => field(page).inputValue()).toBe(NEWER);

  await page.goto(`/p/${person.projectId}/routines/${id}`);
  await page.getByText('version 1 of the project facts, which are at 2').waitFor();
  await page.getByRole('button', { name: 'Run once', exact: true }).click();
  await expect.poll(async () => (await session.get(`/v1/routines/${id}`)).data.factsBehind.proven).toBe(2);
  await page.reload();
  await page.getByRole('button', { name: 'Use the new text' }).click();
  await page.getByText('of the project facts').waitFor({ state: 'detached' });
  expect((await session.get(`/v1/routines/${id}`)).data.factsBehind).toBeNull();

  await page.goto(`/p/${person.projectId}/routines/${id}?tab=preview`);
  await page.getByText('Project facts, version 2').first().waitFor();
});
