import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { pageTest } from '../support/fixtures.ts';
import { photograph } from '../support/photograph.ts';

const test = pageTest();

test('all parts hold to the policy in all their states', async ({ visit }) => {
  const click = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();
  await photograph(visit, 'parts', [
    { name: 'all', path: '/_parts' },
    { name: 'dialog', path: '/_parts', act: click('Dialog') },
    { name: 'confirm-by-name', holds: true, path: '/_parts', act: click('Confirm by name') },
    { name: 'show-once', path: '/_parts', act: click('Show once') },
    { name: 'menu', holds: true, path: '/_parts', act: click('Menu') },
    { name: 'toast', path: '/_parts', act: click('Failed toast') },
    {
      name: 'select',
      holds: true,
      path: '/_parts',
      act: (page) => page.getByRole('combobox', { name: 'Time zone' }).click(),
    },
    {
      name: 'combobox',
      // While the list is open, the page is hidden from screen readers. It is shown again before the focus leaves the
      // list.
      excused: ['aria-hidden-focus'],
      path: '/_parts',
      act: (page) => page.getByRole('combobox', { name: 'Model' }).fill('re'),
    },
  ]);
});

test('on a phone the actions of a page come after its description', async ({ visit }) => {
  const { page } = await visit('/_parts', { width: 360 });
  const topOf = async (locator: Locator) => (await locator.boundingBox())!.y;
  const said = page.getByText('Everything that pages are made of');
  await said.waitFor();
  const action = page.getByRole('button', { name: 'Secondary' });
  expect(await topOf(action.first())).toBeGreaterThan(await topOf(said));
});

test('what is shown once closes by its own button only', async ({ visit }) => {
  const { page } = await visit('/_parts');
  await page.getByRole('button', { name: 'Show once' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your API key' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await dialog.isVisible()).toBe(true);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('a confirmation by name waits for the name', async ({ visit }) => {
  const { page } = await visit('/_parts');
  await page.getByRole('button', { name: 'Confirm by name' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this project?' });
  const confirm = dialog.getByRole('button', { name: 'Delete project' });
  await confirm.click({ force: true });
  expect(await dialog.isVisible()).toBe(true);
  expect(await confirm.getAttribute('aria-disabled')).toBe('true');
  await dialog.getByRole('textbox').fill('Website');
  await confirm.click();
  await dialog.waitFor({ state: 'detached' });
});

test('toasts stay clear of the buttons of a dialog, wide and narrow', async ({ visit }) => {
  for (const width of FULL_SIZE ? [1280, 700, 360] : [1280, 360]) {
    const { page } = await visit('/_parts', { width });
    const toasts = page.getByRole('region', { name: 'Notifications' });
    for (const count of [1, 2, 3]) {
      await page.getByRole('button', { name: 'Failed toast' }).click();
      // The buttons are hidden from screen readers, which announce the toast, until the focus reaches them.
      await expect.poll(() => toasts.getByLabel('Dismiss').count()).toBe(count);
    }
    for (const name of FULL_SIZE ? ['Dialog', 'Confirm', 'Confirm by name', 'Show once'] : ['Confirm by name']) {
      await page.getByRole('button', { name, exact: true }).press('Enter');
      const buttons = page.locator('[role=dialog][data-open] footer').getByRole('button');
      await buttons.last().waitFor();
      for (const button of await buttons.all()) {
        // Playwright hovers only over elements that nothing covers.
        await button.hover({ trial: true });
      }
      await buttons.first().click();
      await buttons.first().waitFor({ state: 'detached' });
    }
  }
});

test('a tooltip opens on hover and on focus, also in a dialog, one at a time', async ({ visit }) => {
  const { page } = await visit('/_parts');
  const tooltips = page.getByRole('tooltip');
  const button = page.getByRole('button', { name: 'Run now' }).first();
  await button.hover();
  await expect.poll(() => tooltips.allInnerTexts()).toEqual(['Run now']);
  await page.mouse.move(0, 0);
  await expect.poll(() => tooltips.count()).toBe(0);

  await page.getByRole('button', { name: 'Confirm by name' }).click();
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete project' });
  await confirm.hover();
  await expect.poll(() => tooltips.count()).toBe(1);
  const why = await tooltips.innerText();
  // A screen reader reads the reason with the button.
  expect(await confirm.getAttribute('aria-description')).toBe(why);
  await page.mouse.move(0, 0);
  await expect.poll(() => tooltips.count()).toBe(0);
  await page.keyboard.press('Tab');
  await confirm.focus();
  await expect.poll(() => tooltips.allInnerTexts()).toEqual([why]);
  await page.keyboard.press('Escape');
  await expect.poll(() => tooltips.count()).toBe(0);
  expect(await confirm.isVisible()).toBe(true);
});
