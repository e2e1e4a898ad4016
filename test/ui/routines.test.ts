import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';
import { failing, holding, photograph } from './support/photograph.ts';

const test = dashboardTest();

const PHOTOGRAPHS = { timeout: 240_000 };

test('the list of routines in all its states', PHOTOGRAPHS, async ({ service, visit, person }) => {
  const empty = await signUp(service);
  const client = clientOf(person);
  await activeRoutine(client, { name: 'Weekly site audit', skills: ['seo-audit'] });
  await createRoutine(client, { name: 'Newsletter ideas', schedule: '0 9 1 * *' });
  await failedRoutine(client);
  const path = `/p/${person.projectId}/routines`;
  await photograph(visit, 'routines', [
    { name: 'full', as: person, path },
    { name: 'empty', as: empty, path: `/p/${empty.projectId}/routines` },
    { name: 'nothing-fits', as: person, path: `${path}?search=nothing` },
    { name: 'loading', as: person, path, before: holding('/v1/routines'), loading: true },
    { name: 'failed', as: person, path, before: failing('/v1/routines') },
  ]);
});

test('a routine in all its states', PHOTOGRAPHS, async ({ visit, person }) => {
  const client = clientOf(person);
  const active = await activeRoutine(client, { name: 'Weekly audit', skills: ['seo-audit'] });
  const failed = await failedRoutine(client);
  const path = `/p/${person.projectId}/routines`;
  await photograph(visit, 'routine', [
    { name: 'active', as: person, path: `${path}/${active}` },
    { name: 'draft', as: person, path: `${path}/${failed}` },
    { name: 'runs', as: person, path: `${path}/${failed}?tab=runs` },
    { name: 'tools', as: person, path: `${path}/${active}?tab=tools` },
    {
      name: 'failed',
      as: person,
      path: `${path}/${active}`,
      before: failing(/^\/v1\/routines\/rtn_/),
    },
  ]);
});

test('its versions in all their states', PHOTOGRAPHS, async ({ visit, person }) => {
  const id = await failedRoutine(clientOf(person));
  const path = `/p/${person.projectId}/routines/${id}/versions`;
  await photograph(visit, 'versions', [
    { name: 'full', as: person, path },
    { name: 'failed', as: person, path, before: failing(/^\/v1\/.*\/versions$/) },
  ]);
});

test('a routine is paused, archived, and found under its state', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await activeRoutine(client, { name: 'Harbour watch' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Pause routine' }).click();
  await page.getByText('Paused; ready to go on').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.getByRole('button', { name: 'Archive routine' }).click();
  await page.getByText('Archived', { exact: true }).waitFor();
  await page.goto(`/p/${person.projectId}/routines?search=harbour`);
  await page.getByText('No routine fits').waitFor();
  await page.goto(`/p/${person.projectId}/routines?state=archived&search=harbour`);
  await page.getByRole('link', { name: 'Harbour watch' }).waitFor();
});

test('an activation over the budget shows the forecast, and asks to accept it', async ({
  visit,
  person,
}) => {
  const client = clientOf(person);
  const id = await createRoutine(client, {
    name: 'Too often',
    schedule: '* * * * *',
    budget: { maxCostUsdPerMonth: '0.01' },
  });
  await runOnce(client, id);
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByRole('button', { name: 'Activate' }).click();
  const dialog = page.getByRole('dialog', { name: 'A limit runs out within 30 days' });
  await dialog.getByText('This routine').waitFor();
  const activate = dialog.getByRole('button', { name: 'Activate' });
  expect(await activate.getAttribute('aria-disabled')).toBe('true');
  await dialog.getByRole('checkbox').click();
  await activate.click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Active, done').waitFor({ state: 'attached' });
});

test('a webhook secret is replaced in two steps and shown once', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, { webhookUrl: 'https://example.com/hook' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Replace the webhook secret' }).click();
  const question = page.getByRole('dialog', { name: 'Replace the webhook secret?' });
  await question.getByText('For 24 hours').waitFor();
  await question.getByRole('button', { name: 'Replace secret' }).click();
  const shown = page.getByRole('dialog', { name: 'The new webhook secret' });
  await shown.getByText(/whsec_/).waitFor();
});

test('a version is restored, and becomes a new one', async ({ visit, person }) => {
  const client = clientOf(person);
  const id = await createRoutine(client, { instructions: 'The first words.' });
  await client.patch(`/v1/routines/${id}`, { instructions: 'Other words.' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/versions`, { as: person });
  await page.getByText('Removed: ').first().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: /^Version 1/ }).click();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.waitForURL(/\/routines\/rtn_[^/]+$/);
  const { data } = await client.get(`/v1/routines/${id}`);
  expect([data.instructions, data.revision]).toEqual(['The first words.', 3]);
});

/** A routine whose only run has failed, and that was changed since. */
async function failedRoutine(client: ApiClient): Promise<string> {
  const id = await createRoutine(client, {
    name: 'What competitors changed on their pricing pages this week',
    schedule: '*/15 8-18 * * 1-5',
    timezone: 'America/New_York',
    checks: [{ type: 'distinct_sources', atLeast: 99 }],
  });
  await runOnce(client, id);
  await client.patch(`/v1/routines/${id}`, { instructions: 'Write two lines.\nThen stop.' });
  return id;
}

function clientOf({ session, projectId }: Person): ApiClient {
  return session.with({ 'X-Project-Id': projectId });
}
