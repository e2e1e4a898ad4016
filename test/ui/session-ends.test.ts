import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { PASSWORD, signUp, type Person } from '#test/support/people.ts';
import { oneOfEach } from '#test/support/properties.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest().extend('leaver', ({ service }) => signUp(service));

/** A form, the text that is typed into it, and the button that saves it. */
interface Form {
  readonly name: string;
  readonly path: string;
  readonly opener?: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly save: string;
}

const INSTRUCTIONS = 'Look at the harbour every morning, and say which ships are new.';
const FORMS: readonly Form[] = [
  {
    name: 'the composer',
    path: 'routines/new',
    opener: 'Write it yourself',
    fields: { Name: 'Watch the harbour', Instructions: INSTRUCTIONS },
    save: 'Save draft',
  },
  {
    name: 'a skill',
    path: 'skills/{skillId}',
    fields: { Instructions: INSTRUCTIONS },
    save: 'Save skill',
  },
  { name: 'the facts', path: 'settings?tab=facts', fields: { Facts: 'Margin: 62 %' }, save: 'Save facts' },
  { name: 'a setting', path: 'settings?tab=account', fields: { 'Your name': 'Ada Lovelace' }, save: 'Save name' },
  {
    name: 'a dialog',
    path: 'skills',
    opener: 'New skill',
    fields: { Name: 'House style', Instructions: INSTRUCTIONS },
    save: 'Create skill',
  },
];

test.for(oneOfEach(FORMS, ({ opener }) => opener === undefined))(
  '$name is still filled in after the session has ended while it was written',
  async (form, { leaver, visit }) => {
    const key = await leaver.key();
    const { data: skill } = await key.post('/v1/skills', {
      name: 'Tone',
      instructions: 'Write in short sentences, exact and calm.',
    });
    const path = form.path.replace('{skillId}', skill.id);
    const { page, settled } = await visit(`/p/${leaver.projectId}/${path}`, { as: leaver });
    await settled();
    if (form.opener !== undefined) await page.getByRole('button', { name: form.opener }).first().click();
    for (const [label, text] of Object.entries(form.fields)) await field(page, label).fill(text);
    await leaver.session.post('/auth/sign-out');
    const save = page.getByRole('button', { name: form.save, exact: true }).first();
    await save.click();
    await signInAgain(page, leaver);
    for (const [label, text] of Object.entries(form.fields)) expect(await field(page, label).inputValue()).toBe(text);
    expect(await page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain(
      Object.values(form.fields)[0],
    );
    const saved = page.waitForResponse(
      (response) => response.request().method() !== 'GET' && response.status() !== 401,
    );
    await save.click();
    expect(JSON.stringify((await saved).request().postDataJSON())).toContain(Object.values(form.fields)[0]);
  },
);

test('no key shows or closes the page below an ended session', async ({ leaver, visit }) => {
  const { page, settled, expectClean } = await visit(`/p/${leaver.projectId}/skills`, { as: leaver });
  await settled();
  await page.getByRole('button', { name: 'New skill' }).first().click();
  await field(page, 'Name').fill('House style');
  await leaver.session.post('/auth/sign-out');
  await page.getByRole('button', { name: 'Create skill' }).click();
  await cover(page).waitFor();
  const seen = await page.evaluate<string[]>(
    `[[9, 9], [innerWidth / 2, innerHeight / 2], [innerWidth - 9, innerHeight - 9]].map(([x, y]) =>
      document.elementFromPoint(x, y).closest('[role=dialog]')?.getAttribute('aria-label'))`,
  );
  expect(seen).toEqual(['Sign in', 'Sign in', 'Sign in']);
  await page.keyboard.press('Escape');
  await expectClean();
  await signInAgain(page, leaver);
  expect(await field(page, 'Name').inputValue()).toBe('House style');
});

test('another person who signs in there sees nothing of the page', async ({ leaver, person, visit }) => {
  const { page, settled } = await visit(`/p/${leaver.projectId}/settings?tab=account`, { as: leaver });
  await settled();
  await field(page, 'Your name').fill('Ada Lovelace');
  await leaver.session.post('/auth/sign-out');
  await page.getByRole('button', { name: 'Save name' }).click();
  page.on('dialog', (question) => void question.accept());
  await signInOver(page, person);
  await page.waitForURL((url) => url.pathname.startsWith(`/p/${person.projectId}`));
});

function field(page: Page, label: string): Locator {
  return page.getByRole('textbox', { name: label, exact: true, includeHidden: false });
}

function cover(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Sign in', exact: true });
}

async function signInAgain(page: Page, person: Person): Promise<void> {
  await signInOver(page, person);
  await cover(page).waitFor({ state: 'detached' });
}

async function signInOver(page: Page, { email }: Person): Promise<void> {
  await cover(page).getByLabel('E-mail').fill(email);
  await cover(page).getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
}
