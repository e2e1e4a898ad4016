import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import {
  connectWithKey,
  goodKey,
  makeDue,
  newColleague,
  runOut,
  startModelFixture,
  UI_ORIGIN,
} from '#test/core/models/connections/fixture.ts';
import { dashboardTest, startDashboard } from './support/fixtures.ts';
import { failing, forbidding, holding, photograph } from './support/photograph.ts';
import { enterCodeThere, getCode, letIntervalPass, openAccountDialog } from './support/steps/model-accounts.ts';

const fixture = await startModelFixture();
const { control } = fixture.authorizationServer;
const test = dashboardTest()
  .override('uiPort', () => Number(new URL(UI_ORIGIN).port))
  .override('service', () => fixture.service);
afterAll(() => fixture.close());

test('an account is connected by device code: terms, code, the provider, ready', async ({ visit, person }) => {
  const { page, expectClean } = await visit(`/p/${person.projectId}/model-accounts`, {
    as: person,
  });
  await page.getByText('No accounts connected').waitFor();
  control.account = 'ada-by-device';
  const started = await getCode(page);
  await expectClean();
  expect(await enterCodeThere(page)).toBe(started.userCode);
  await makeDue(fixture, started.attemptId);
  await letIntervalPass(page, started);
  await page.getByText('The account is connected.').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Ready' });
  await row.getByText('You').waitFor();
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Models' }).click();
  await page.getByRole('dialog').getByRole('listitem').first().waitFor();
  await page.keyboard.press('Escape');
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByText('No active routine runs on it.').waitFor();
  await page.getByRole('button', { name: 'Revoke account' }).click();
  await page.getByRole('row').filter({ hasText: 'Revoked' }).waitFor();
});

test('a sign-in goes by the provider and back, and leaves no code in the address', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/model-accounts`, { as: person });
  control.account = 'ada-by-sign-in';
  await openAccountDialog(page, 'provider-b');
  await page.getByRole('button', { name: /^Continue to/ }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByText('is connected. Choose one of its models').waitFor();
  expect(page.url()).toMatch(/model-accounts\?connected=mcn_[0-9a-z]+$/);
});

test('an API key is tried, kept, and never shown', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/model-accounts`, { as: person });
  await openAccountDialog(page, 'provider-c');
  const field = page.getByLabel('API key');
  await field.fill('sk-fixture-wrong');
  await page.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await expect.poll(() => field.inputValue()).toBe('');
  const key = goodKey(fixture);
  await field.fill(key);
  await page.getByLabel('Label').fill('Team key');
  await page.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('row').filter({ hasText: 'Team key' }).waitFor();
  expect(await page.content()).not.toContain(key);
});

test('a cancelled attempt is cancelled at the service too', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/model-accounts`, { as: person });
  const { attemptId } = await getCode(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  const { data } = await session.get(`/v1/model-connections/provider-a/device/${attemptId}`);
  expect(data.state).toBe('cancelled');
});

test('a provider whose file is another on the runtime says so, and who mends it', async ({
  visit,
  person,
  service,
}) => {
  const file = path.join(fixture.rig.folder, 'another-provider-c.yaml');
  const text = readFileSync(fixture.rig.env.MODEL_PROVIDER_C_FILE!, 'utf8');
  writeFileSync(file, text.replace('Fixture', 'Another'));
  const replica = await service.replica({ MODEL_PROVIDER_C_FILE: file });
  onTestFinished(() => replica.close());
  const there = { url: replica.url, config: service.config };
  const dashboard = await startDashboard(there, await freePort());
  onTestFinished(() => dashboard.close());
  const { page, expectClean } = await visit(`${dashboard.url}/p/${person.projectId}/model-accounts`, { as: person });
  await page.getByText('Files differ').waitFor();
  await page.getByText('The operator has to give both the same file.').waitFor();
  expect(await page.getByText('Switched off').count()).toBe(0);
  await expectClean();
});

test('model accounts in all their states', async ({ visit, person }) => {
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  const created = await session.post('/v1/projects', {
    organizationId: person.organizationId,
    name: 'Website',
  });
  const projectId: string = created.data.id;
  const seen = { as: person, path: `/p/${projectId}/model-accounts` };
  const accounts = '/v1/model-connections';
  await photograph(visit, 'model-accounts', [
    { ...seen, name: 'empty' },
    { ...seen, name: 'device-terms', act: (page) => openAccountDialog(page, 'provider-a') },
    { ...seen, name: 'device-code', act: getCode },
    {
      ...seen,
      name: 'device-denied',
      act: async (page) => {
        const started = await getCode(page);
        await control.answerDevice(started.userCode, 'deny');
        await makeDue(fixture, started.attemptId);
        await letIntervalPass(page, started);
        await page.getByRole('alert').waitFor();
      },
    },
    {
      ...seen,
      name: 'device-expired',
      act: async (page) => {
        const started = await getCode(page);
        await runOut(fixture, started.attemptId);
        await letIntervalPass(page, started);
        await page.getByText('The code has run out.').waitFor();
      },
    },
    {
      ...seen,
      name: 'device-connected',
      act: async (page) => {
        const started = await getCode(page);
        control.account = 'ada-lovelace';
        await control.answerDevice(started.userCode, 'approve');
        await makeDue(fixture, started.attemptId);
        await letIntervalPass(page, started);
        await page.getByText('The account is connected.').waitFor();
      },
    },
  ]);
  const here = person.session.with({ 'X-Project-Id': projectId });
  await connectWithKey(here, goodKey(fixture), { accountLabel: 'Team key' });
  const colleague = await newColleague(fixture, person);
  const theirs = colleague.session.with({ 'X-Project-Id': projectId });
  const { data } = await connectWithKey(theirs, goodKey(fixture), { accountLabel: 'Grace’s key' });
  await theirs.post(`${accounts}/${data.id}/revoke`);
  const open = (item: string) => async (page: Page) => {
    await page.getByRole('button', { name: 'Actions for Team key' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };
  await photograph(visit, 'model-accounts', [
    { ...seen, name: 'full' },
    { ...seen, name: 'loading', before: holding(accounts), loading: true },
    { ...seen, name: 'failed', before: failing(accounts) },
    { ...seen, name: 'forbidden', before: forbidding(accounts) },
    { ...seen, name: 'refused', path: `${seen.path}?error=attempt_expired&requestId=6b2f0a3e` },
    { ...seen, name: 'sign-in', act: (page) => openAccountDialog(page, 'provider-b') },
    { ...seen, name: 'api-key', act: (page) => openAccountDialog(page, 'provider-c') },
    { ...seen, name: 'models', act: open('Models') },
    { ...seen, name: 'revoke', act: open('Revoke') },
  ]);
});
