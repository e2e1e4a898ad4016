import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, onTestFinished } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { goodKey, startModelFixture, UI_ORIGIN } from '#test/core/models/connections/fixture.ts';
import { dashboardTest, startDashboard } from './support/fixtures.ts';
import { getCode, openAccountDialog } from './support/steps/model-accounts.ts';

const fixture = await startModelFixture();
const { control } = fixture.authorizationServer;
const test = dashboardTest()
  .override('uiPort', () => Number(new URL(UI_ORIGIN).port))
  .override('service', () => fixture.service);
afterAll(() => fixture.close());

test('a sign-in goes by the provider and back, and leaves no code in the address', async ({ visit, person }) => {
  const { page } = await visit(`/p/${person.projectId}/model-accounts`, { as: person });
  control.account = 'ada-by-sign-in';
  await openAccountDialog(page, 'provider-b');
  await page.getByRole('button', { name: /^Continue to/ }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByText('is connected. Choose a model of this account').waitFor();
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
  await page.getByText('The operator has to give the same file to both.').waitFor();
  expect(await page.getByText('Switched off').count()).toBe(0);
  await expectClean();
});
