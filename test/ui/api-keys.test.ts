import { expect } from 'vitest';
import { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { makeKey, storeSecret } from './support/steps/secrets.ts';

const test = dashboardTest();

test('a key is replaced in two steps, and between them both work', async ({ service, visit }) => {
  const owner = await signUp(service);
  const session = owner.session.with({ 'X-Project-Id': owner.projectId });
  const scopes = ['runs:read', 'connections:read'];
  const { data: old } = await session.post('/v1/api-keys', { name: 'Nightly import', scopes });
  const { page, settled, expectClean } = await visit(`/p/${owner.projectId}/api-keys`, {
    as: owner,
  });
  await page.getByRole('button', { name: 'Replace Nightly import' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replace Nightly import' });
  await dialog.getByText(`The old one, ${old.prefix}, works until you revoke it`).waitFor();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Nightly import');
  await makeKey(page, 'Nightly import on the new machine');
  await page.getByText(`The old key, ${old.prefix}, still works`).waitFor();
  const secret = await storeSecret(page, 'API key');

  const [before, after] = [old.key, secret].map(
    (key) => new ApiClient(service.url, { Authorization: `Bearer ${key}` }),
  );
  const statuses = async () => [(await before!.get('/v1/runs')).status, (await after!.get('/v1/runs')).status];
  expect(await statuses()).toEqual([200, 200]);
  const listed = async () => (await session.get('/v1/api-keys')).data;
  await expect.poll(listed).toMatchObject([
    { name: 'Nightly import on the new machine', scopes, expiresAt: null },
    { id: old.id, lastUsedAt: expect.any(String) },
  ]);

  await page.reload();
  await page.getByRole('button', { name: `Revoke Nightly import, ${old.prefix}` }).click();
  await page.getByText(`The key ${old.prefix} was last used`).waitFor();
  await settled();
  await expectClean();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('Key revoked').waitFor();
  expect(await statuses()).toEqual([401, 200]);
});
