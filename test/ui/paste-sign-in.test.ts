import { afterAll, expect } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { startModelFixture, visitModelPage } from '#test/core/models/connections/fixture.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';
import { openAccountDialog } from './support/steps/model-accounts.ts';

const REDIRECT = 'http://localhost:1455/auth/callback';

const port = await freePort();
const fixture = await startModelFixture({
  auth: { 'provider-b': { redirect: 'paste', redirectUri: REDIRECT } },
  env: { UI_ORIGIN: `http://localhost:${port}` },
});
const test = dashboardTest()
  .override('uiPort', () => port)
  .override('service', () => fixture.service);
afterAll(() => fixture.close());

test('where nothing listens at the end of a sign-in, the address that the browser ended at is pasted', async ({
  visit,
  person,
}) => {
  const path = `/p/${person.projectId}/model-accounts`;
  fixture.authorizationServer.control.account = 'ada-by-paste';
  const { page, expectClean } = await visit(path, { as: person });
  const begin = async (on = page) => {
    const started = on.waitForResponse((response) => response.url().endsWith('/oauth/start'));
    await openAccountDialog(on, 'provider-b');
    await on.getByRole('button', { name: /^Continue to/ }).click();
    const { data } = await (await started).json();
    await on.getByText(REDIRECT).waitFor();
    return data.authorizationUrl as string;
  };
  const authorizationUrl = await begin();
  const field = page.getByLabel('Paste the address here');
  await field.fill('localhost:1455/auth/callback?code=x');
  await page.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('alert').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await field.fill(await visitModelPage(authorizationUrl));
  await page.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('row').filter({ hasText: 'Ready' }).waitFor();
  await expectClean();
  await photograph(visit, 'model-accounts', [
    {
      name: 'paste',
      as: person,
      path,
      act: async (shown) => {
        await begin(shown);
        await shown.getByLabel('Paste the address here').fill(`${REDIRECT}?state=none`);
        await shown.getByRole('button', { name: 'Connect account' }).click();
        await shown.getByRole('alert').waitFor();
      },
    },
  ]);
});
