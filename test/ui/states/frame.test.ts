import type { Page } from 'playwright-core';
import { pageTest } from '../support/fixtures.ts';
import { AT, FRAME } from '../support/frame.ts';
import { failing, holding, photograph, refusing } from '../support/photograph.ts';

const test = pageTest();
const MISSING = { code: 'not_found', message: 'There is no such project.' };

test('the frame around every page', async ({ api, visit }) => {
  api.serve(...FRAME);
  const opened = { path: `${AT}/settings` };
  const press = (name: RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();
  await photograph(visit, 'shell', [
    { ...opened, name: 'frame' },
    {
      ...opened,
      name: 'palette',
      width: 1280,
      act: async (page) => {
        await page.keyboard.press('/');
        await page.getByRole('combobox', { name: 'Search and commands' }).fill('us');
      },
    },
    {
      ...opened,
      name: 'keys',
      act: async (page) => {
        await page.keyboard.press('?');
        await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
      },
    },
    { ...opened, name: 'switcher', act: press(/Switch project/) },
    { ...opened, name: 'account', act: press(/Account and theme/) },
    {
      ...opened,
      name: 'drawer',
      act: async (page) => {
        await page.setViewportSize({ width: 360, height: 740 });
        await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('dialog', { name: 'Menu' }).waitFor();
      },
    },
    { ...opened, name: 'not-found', path: `${AT}/nothing-here` },
    { ...opened, name: 'loading', before: holding(/^\/v1\/(projects|organizations)/), loading: true },
    {
      ...opened,
      name: 'failed',
      before: failing(/^\/v1\/projects\//),
      act: (page) => page.getByRole('alert').waitFor(),
    },
    {
      name: 'foreign',
      path: AT,
      before: refusing(/^\/v1\/projects\//, 404, MISSING),
      act: (page) => page.getByText('This project is not one of yours').waitFor(),
    },
    { ...opened, name: 'start', path: `${AT}/start` },
    { ...opened, name: 'start-template', path: `${AT}/start?template=ideas` },
    { name: 'lost', path: '/nowhere' },
  ]);
});
