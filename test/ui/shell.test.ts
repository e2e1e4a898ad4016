import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine } from '#test/support/routines.ts';
import { newEmail, PASSWORD, signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { pressAtOnce } from './support/keys.ts';

const test = dashboardTest();

test('keys lead to every page, and do nothing while the user types', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/settings`, { as: person });
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await pressAtOnce(page, ['g', 'n']);
  await page.waitForURL(/\/runs$/);
  await page.keyboard.press('/');
  const search = page.getByRole('combobox', { name: 'Search and commands' });
  await search.fill('');
  await page.keyboard.type('gr');
  expect(await search.inputValue()).toBe('gr');
  expect(page.url()).toMatch(/\/runs$/);
});

test.runIf(FULL_SIZE)('the palette goes to a page, and to a routine by its name', async ({ visit, person }) => {
  await createRoutine(person.session.with({ 'X-Project-Id': person.projectId }), {
    name: 'Watch the harbour',
  });
  const { page } = await visit(`/p/${person.projectId}/settings`, { as: person });
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('harbour');
  await page.getByRole('option', { name: /Watch the harbour/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/routines\/rtn_/);
});

test.runIf(FULL_SIZE)(
  'everything in the frame can be reached and used by the keyboard alone',
  async ({ visit, person }) => {
    const { page, settled } = await visit(`/p/${person.projectId}/settings`, { as: person });
    await settled();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the page');
    const seen: string[] = [];
    for (let count = 0; count < 16; count += 1) {
      await page.keyboard.press('Tab');
      seen.push(await focused(page));
    }
    for (const name of ['Switch project', 'Search', 'Home', 'Routines', 'Runs', 'API keys']) {
      expect(
        seen.some((text) => text.includes(name)),
        name,
      ).toBe(true);
    }
  },
);

test('two tabs stay in two projects', async ({ visit, person }) => {
  const made = await person.session.post('/v1/projects', {
    organizationId: person.organizationId,
    name: 'Second',
  });
  const second: string = made.data.id;
  const { page: one } = await visit(`/p/${person.projectId}/routines`, { as: person });
  await one.getByRole('heading', { level: 1, name: 'Routines' }).waitFor();
  const two = await one.context().newPage();
  const asked = new Map<string, Set<string>>();
  for (const [name, page] of [
    ['one', one],
    ['two', two],
  ] as const) {
    asked.set(name, new Set());
    page.on('request', (request) => {
      const project = request.headers()['x-project-id'];
      if (project !== undefined) asked.get(name)?.add(project);
    });
  }
  await two.goto(`/p/${second}/routines`);
  await two.getByRole('heading', { level: 1, name: 'Routines' }).waitFor();
  await one.reload();
  await one.getByRole('heading', { level: 1, name: 'Routines' }).waitFor();
  await one.keyboard.press('/');
  await one.getByRole('combobox', { name: 'Search and commands' }).fill('Second');
  await one.getByRole('option', { name: /Second/ }).waitFor();
  expect([...asked.get('one')!]).toEqual([person.projectId]);
  expect([...asked.get('two')!]).toEqual([second]);
});

test('a session that ends elsewhere leads to the sign-in, and back to the same page after it', async ({
  visit,
  service,
}) => {
  const email = newEmail();
  const person = await signUp(service, email);
  const { page, settled } = await visit('about:blank', { as: person });
  await page.clock.install();
  await page.goto(`/p/${person.projectId}/routines`);
  await settled();
  await person.session.post('/auth/sign-out');
  // The page refreshes the list by itself.
  await page.clock.fastForward('00:10');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Routines' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/p/${person.projectId}/routines`);
  expect(await page.title()).toMatch(/^Routines/);
});

test('a chosen theme applies before the first paint and after a reload', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/settings`, { as: person, theme: 'light' });
  await page.getByRole('button', { name: /Account and theme/ }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.addInitScript(THEME_AT_FIRST);
  await page.reload();
  expect(await page.evaluate<string>('window.themeAtFirst')).toBe('dark');
});

test('a new project is made in the switcher, which shows errors at the field', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/settings`, { as: person });
  await page.getByRole('button', { name: /Switch project/ }).click();
  await page.getByRole('menuitem', { name: 'New project' }).click();
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('dialog').getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('dialog').getByLabel('Name').fill('Website');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('button', { name: /Website.*Switch project/ }).waitFor();
});

/** Script that records the theme when the body is inserted, which is before the first paint. */
const THEME_AT_FIRST = `new MutationObserver((_changes, observer) => {
  if (document.body === null) return;
  window.themeAtFirst = document.documentElement.dataset.theme;
  observer.disconnect();
}).observe(document, { childList: true, subtree: true })`;

function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`,
  );
}

test('a browser that names no proper language has dates in English all the same', async ({ visit, person }) => {
  const { page, expectClean } = await visit('about:blank', { as: person });
  await page.addInitScript(`Object.defineProperty(navigator, 'languages', { get: () => ['en-US@posix', 'de'] })`);
  await page.goto(`/p/${person.projectId}/settings`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expectClean();
});
