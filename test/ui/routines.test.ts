import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { type Person } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';
import { failing, forbidding, holding, photograph } from './support/photograph.ts';

const test = dashboardTest();

test('a routine is paused, archived, and found under its state', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await activeRoutine(client, { name: 'Harbour watch' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Pause routine' }).click();
  await page.getByText('Paused; ready to continue').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.getByRole('button', { name: 'Archive routine' }).click();
  await page.getByText('Archived', { exact: true }).waitFor();
  await page.goto(`/p/${person.projectId}/routines?search=harbour`);
  await page.getByText('No routine fits').waitFor();
  await page.goto(`/p/${person.projectId}/routines?state=archived&search=harbour`);
  await page.getByRole('link', { name: 'Harbour watch' }).waitFor();
});

test('an activation over the budget says so before the button, and asks for nothing', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, {
    name: 'Too often',
    schedule: '* * * * *',
    budget: { maxCostUsdPerMonth: '0.01' },
  });
  await runOnce(client, id);
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByText(/By the forecast, a limit of this routine runs out on/).waitFor();
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByText('Active, done').waitFor({ state: 'attached' });
});

test('a preview shows the text, the tools and the cost of a run, also with other values', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, {
    name: 'Site audit',
    instructions: 'Look at {{site}} and say what is new.',
    variables: { site: 'example.com' },
    skills: ['seo-audit'],
    builtInTools: ['calculate'],
  });
  const { data: before } = await client.get('/v1/runs');
  const path = `/p/${person.projectId}/routines/${id}?tab=preview`;
  const { page, expectClean } = await visit(path, { as: person });
  const prompt = page.getByRole('region', { name: 'prompt' });
  await prompt.getByText('Look at example.com and say what is new.').waitFor();
  await prompt.getByText('## Skill: ').waitFor();
  await page.getByText('A run that began now would call its model.').waitFor();
  await page.getByText('calculate', { exact: true }).waitFor();
  await page.getByText('from the limits, as the routine has not run yet').waitFor();
  await page.getByLabel('site').fill('docs.example.com');
  await page.getByRole('button', { name: 'Preview with these' }).click();
  await prompt.getByText('Look at docs.example.com and say what is new.').waitFor();
  await expectClean();
  expect((await client.get('/v1/runs')).data).toEqual(before);

  const blocked = await createRoutine(client, {
    name: 'Too dear',
    budget: { maxTokensPerDay: 10 },
  });
  const api = /\/preview$/;
  const of = (routine: string) => ({
    as: person,
    path: `/p/${person.projectId}/routines/${routine}?tab=preview`,
  });
  await photograph(visit, 'routine', [
    { ...of(id), name: 'preview' },
    {
      ...of(blocked),
      name: 'preview-blocked',
      act: (page) => page.getByText(/^A run that began now would fail\. /).waitFor(),
    },
    { ...of(id), name: 'preview-loading', before: holding(api), loading: true },
    { ...of(id), name: 'preview-failed', before: failing(api) },
    { ...of(id), name: 'preview-forbidden', before: forbidding(api) },
  ]);
});

test('past times are made up for, once their forecast is shown', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await activeRoutine(client, { name: 'Daily numbers' });
  const draft = await createRoutine(client, { name: 'Not proven' });
  const dear = await createRoutine(client, {
    name: 'Dear numbers',
    schedule: '0 * * * *',
    budget: { maxCostUsdPerMonth: '0.001' },
  });
  await runOnce(client, dear);
  const path = `/p/${person.projectId}/routines`;
  const open = async (on: Page) => {
    await on.getByRole('button', { name: 'More' }).click();
    await on.getByRole('menuitem', { name: 'Run for missed times' }).click();
  };
  const look = (on: Page) => on.getByRole('button', { name: 'Show the forecast' }).click();
  const { page, expectClean } = await visit(`${path}/${id}`, { as: person });
  await open(page);
  const dialog = page.getByRole('dialog', { name: 'Run for missed times' });
  await dialog.getByLabel('To').fill('2199-01-01T00:00');
  await look(page);
  await dialog.getByText('Must not be in the future.').waitFor();
  await dialog.getByLabel('To').fill(ago(0));
  await dialog.getByLabel('From').fill(ago(3));
  await dialog.getByLabel('At most').fill('2');
  await look(page);
  await dialog.getByText('for 2 runs').waitFor();
  await dialog.getByText(/^More missed times remain from/).waitFor();
  // A change of the form discards the forecast.
  await dialog.getByLabel('At most').fill('1');
  await look(page);
  await dialog.getByText('for 1 run').waitFor();
  await expectClean();
  await dialog.getByRole('button', { name: 'Start 1 run' }).click();
  await page.waitForURL(/\/runs\?backfillId=bkf_/);
  await page.getByText('Of one backfill').waitFor();
  const row = page.getByRole('row', { name: /Daily numbers.*Backfill/ });
  await row.waitFor();
  const { data } = await client.get(`/v1/routines/${id}/runs?trigger=backfill`);
  expect(data).toHaveLength(1);

  const of = (routine: string) => ({ as: person, path: `${path}/${routine}` });
  await photograph(visit, 'routine', [
    { ...of(id), name: 'backfill', act: open },
    {
      ...of(id),
      name: 'backfill-forecast',
      act: async (on) => {
        await open(on);
        await look(on);
        await on.getByText(/^Left out: 1 already made up for/).waitFor();
      },
    },
    {
      ...of(dear),
      name: 'backfill-over-budget',
      act: async (on) => {
        await open(on);
        await look(on);
        const start = on.getByRole('button', { name: /^Start \d+ runs/ });
        expect(await start.getAttribute('aria-disabled')).toBe('true');
        await on.getByRole('checkbox').click();
        expect(await start.getAttribute('aria-disabled')).toBeNull();
      },
    },
    {
      ...of(id),
      name: 'backfill-failed',
      before: failing(/\/backfill\/forecast$/),
      act: async (on) => {
        await open(on);
        await look(on);
        await on.getByRole('dialog').getByRole('alert').waitFor();
      },
    },
    {
      ...of(draft),
      name: 'backfill-unproven',
      act: async (on) => {
        await on.getByRole('button', { name: 'More' }).click();
        await on.getByText('A run of this version has to succeed first.').waitFor();
      },
    },
  ]);
});

test('a run is asked for a later time, with other values', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, {
    instructions: 'Look at {{site}}.',
    variables: { site: 'example.com' },
  });
  const { page, expectClean } = await visit(`/p/${person.projectId}/routines/${id}`, {
    as: person,
  });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Run with other values or later' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('At', { exact: false }).last().fill('2020-01-01T07:00');
  await dialog.getByLabel('site').fill('docs.example.com');
  await page.getByRole('button', { name: 'Schedule this run' }).click();
  await dialog.getByRole('alert').waitFor();
  const at = ago(-2);
  await dialog.getByLabel('At', { exact: false }).last().fill(at);
  await page.getByRole('button', { name: 'Schedule this run' }).click();
  await page.getByText('Waiting: the run was requested for a later time.').waitFor();
  await expectClean();
  const { data } = await client.get(`/v1/routines/${id}/runs`);
  const { data: run } = await client.get(`/v1/runs/${data[0].id}`);
  // The browser of the tests is in Berlin.
  expect(run.variables).toEqual({ site: 'docs.example.com' });
  expect(inBerlin(new Date(run.runAt))).toBe(at);
});

test('a webhook secret is replaced in two steps and shown once', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, { webhookUrl: 'https://example.com/hook' });
  const { page, expectClean } = await visit(`/p/${person.projectId}/routines/${id}`, {
    as: person,
  });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Replace the webhook secret' }).click();
  const question = page.getByRole('dialog', { name: 'Replace the webhook secret?' });
  await question.getByText('For 24 hours').waitFor();
  await question.getByRole('button', { name: 'Replace secret' }).click();
  const shown = page.getByRole('dialog', { name: 'The new webhook secret' });
  await shown.getByText(/whsec_/).waitFor();
  expect(await shown.getByRole('region', { name: 'verification' }).innerText()).toContain(
    'webhook.verify(body, request.headers)',
  );
  await expectClean();
});

test('a webhook secret whose response was lost is replaced once more', async ({ visit, person }) => {
  const id = await createRoutine(clientOf(person), { webhookUrl: 'https://example.com/hook' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  let isFirst = true;
  await page.route(/\/webhook-secret$/, async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    await route.fetch();
    return route.abort();
  });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Replace the webhook secret' }).click();
  const question = page.getByRole('dialog', { name: 'Replace the webhook secret?' });
  const replace = question.getByRole('button', { name: 'Replace secret' });
  await replace.click();
  await question.getByRole('alert').waitFor();
  await replace.click();
  await question.getByText('the response that had the new one was lost').waitFor();
  await replace.click();
  await question.getByRole('checkbox', { name: 'Drop the older secret at once' }).click();
  await replace.click();
  await page
    .getByRole('dialog', { name: 'The new webhook secret' })
    .getByText(/whsec_/)
    .waitFor();
});

test('a version is restored, and becomes a new one', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, { instructions: 'The first words.' });
  await client.patch(`/v1/routines/${id}`, { instructions: 'Other words.' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/versions`, { as: person });
  await page.getByText('Removed: ').first().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: /^Version 1/ }).click();
  await page.getByText('Steps of a run: 25').waitFor();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.waitForURL(/\/routines\/rtn_[^/]+$/);
  const { data } = await client.get(`/v1/routines/${id}`);
  expect([data.instructions, data.revision]).toEqual(['The first words.', 3]);
});

/** Returns a past time on the clock of Berlin, where the browser of the tests is, in the form of an input field. */
function ago(days: number): string {
  return inBerlin(new Date(Date.now() - days * 86_400_000));
}

function inBerlin(at: Date): string {
  return at.toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' }).slice(0, 16).replace(' ', 'T');
}

function clientOf({ session, projectId }: Person): ApiClient {
  return session.with({ 'X-Project-Id': projectId });
}
