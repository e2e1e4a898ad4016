import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { AT, FRAME, PROJECT } from '../support/frame.ts';
import { sample } from '../support/sample.ts';
import { failing, holding, photograph, refusing } from '../support/photograph.ts';

const test = pageTest();
const MISSING = { code: 'not_found', message: 'There is no such project.' };

const FOUND = [
  answer('get', '/v1/routines', ({ query }) =>
    'harbour watch'.includes(query.get('q') ?? '')
      ? [sample('RoutineSummary', { name: 'Harbour watch', state: 'active' })]
      : [],
  ),
  answer('get', '/v1/runs', ({ query }) =>
    query.get('q') === '404'
      ? [sample('RunSummary', { routineName: 'Sign-up page', outcomeSummary: 'It answers 404.' })]
      : [],
  ),
  answer('get', '/v1/skills', [sample('SkillSummary', { slug: 'seo-audit', name: 'SEO audit' })]),
];

test('the palette finds pages, settings, themes, what runs said and skills, and does what it is told', async ({
  api,
  visit,
}) => {
  api.serve(...FRAME, ...FOUND);
  const { page } = await visit(`${AT}/settings`);
  const choose = async (text: string, option: string | RegExp) => {
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search and commands' }).fill(text);
    await page.getByRole('option', { name: option }).click();
  };
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await choose('dark', /^Dark/);
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
  await choose('invite', /^Members/);
  await page.waitForURL(/\?tab=members$/);
  await choose('templ', 'Templates');
  await page.waitForURL(/\/start$/);
  await choose('404', /^Sign-up page, .*It answers 404\./);
  await page.waitForURL(/\/runs\/run_/);
  await choose('use seo', /^Use SEO audit in a routine/);
  await page.waitForURL(/\/routines\/new\?skill=seo-audit$/);
  await choose('pause harbour', 'Pause Harbour watch');
  await page.getByRole('dialog', { name: 'Pause this routine?' }).waitFor();
});

test('the account menu leads to the documentation of the service', async ({ api, visit }) => {
  api.serve(
    ...FRAME,
    answer('get', '/public/config', sample('PublicConfig', { publicUrl: 'https://api.example.com' })),
  );
  const { page } = await visit(`${AT}/settings`);
  await page.getByRole('button', { name: /Account and theme/ }).click();
  const link = page.getByRole('menuitem', { name: 'Documentation' });
  await expect.poll(() => link.getAttribute('href')).toBe('https://api.example.com/docs');
});

test('offline the page stays, and the next one opens once there is a connection', async ({ api, visit }) => {
  api.serve(...FRAME);
  const { page, settled } = await visit(`${AT}/settings`);
  await settled();
  await page.context().setOffline(true);
  await page.getByText('You are offline').first().waitFor();
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.waitForURL(/\/usage$/);
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.context().setOffline(false);
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await page.getByText('You are offline').first().waitFor({ state: 'detached' });
});

test('the note of the demo comes below its pages, so that it moves nothing of them', async ({ api, visit }) => {
  api.serve(...FRAME, answer('get', '/v1/projects/{projectId}', { ...PROJECT, isDemo: true }));
  const { page } = await visit(`${AT}/models`);
  const note = page.getByRole('complementary', { name: 'Demo' });
  await note.waitFor();
  const tops = [page.getByRole('heading', { level: 1 }), note].map(async (part) => (await part.boundingBox())!.y);
  const [heading, below] = await Promise.all(tops);
  expect(below).toBeGreaterThan(heading!);
});

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
      name: 'palette-found',
      before: () => api.serve(...FRAME, ...FOUND),
      act: async (page) => {
        await page.keyboard.press('/');
        await page.getByRole('combobox', { name: 'Search and commands' }).fill('pause harbour');
        await page.getByRole('option', { name: 'Pause Harbour watch' }).waitFor();
      },
    },
    {
      ...opened,
      name: 'palette-failed',
      before: failing(/^\/v1\/(routines|runs|skills)/),
      act: async (page) => {
        await page.keyboard.press('/');
        await page.getByRole('combobox', { name: 'Search and commands' }).fill('zzz');
        await page.getByText('The service is not available.').first().waitFor();
      },
    },
    {
      ...opened,
      name: 'keys',
      before: () => api.serve(...FRAME),
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
    { ...opened, name: 'loading', before: holding(/^\/v1\/(projects|organizations)/), loading: true, holds: true },
    {
      ...opened,
      name: 'failed',
      before: failing(/^\/v1\/projects\//),
      act: (page) => page.getByRole('alert').waitFor(),
    },
    {
      name: 'foreign',
      holds: true,
      path: AT,
      before: refusing(/^\/v1\/projects\//, 404, MISSING),
      act: (page) => page.getByText('This project is not one of yours').waitFor(),
    },
    { ...opened, name: 'start', path: `${AT}/start` },
    { ...opened, name: 'start-template', path: `${AT}/start?template=ideas` },
    { name: 'lost', path: '/nowhere' },
  ]);
});
