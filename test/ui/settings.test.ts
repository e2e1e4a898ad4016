import { expect } from 'vitest';
import { PASSWORD, postAuth, signIn, signInAgain, signUp, type Person } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

function pathOf({ projectId }: Person, tab = 'organization'): string {
  return `/p/${projectId}/settings?tab=${tab}`;
}

/** Adds a new person to another person's organization. */
async function joins(owner: Person, person: Person, role = 'member'): Promise<Person> {
  const { data } = await owner.session.post(`/v1/organizations/${owner.organizationId}/invitations`, {
    email: person.email,
    role,
  });
  await person.session.post('/v1/invitations/accept', { token: data.token });
  return { ...person, projectId: owner.projectId, organizationId: owner.organizationId };
}

function rename({ session }: Person, name: string) {
  return session.post('/auth/update-user', { name });
}

test('a member is invited by a link, gets another role, and leaves', async ({ service, visit }) => {
  const [ada, grace] = [await signUp(service), await signUp(service)];
  await rename(grace, 'Grace Hopper');
  const { page, settled, expectClean } = await visit(pathOf(ada, 'members'), { as: ada });
  await page.getByText('No open invitations').waitFor();
  await page.getByRole('button', { name: 'Invite a person' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').first().waitFor();
  await page.getByLabel('E-mail address').fill(grace.email);
  await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
  const link = page.getByRole('region', { name: 'link of the invitation' });
  const first = (await link.textContent())?.split('#')[1];
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await link.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: `Invitation of ${grace.email}` }).click();
  await page.getByRole('menuitem', { name: 'Invite as admin instead' }).click();
  const token = (await link.textContent())?.split('#')[1];
  await page.getByRole('button', { name: 'I have stored it' }).click();
  const accept = (of: string | undefined) => grace.session.post('/v1/invitations/accept', { token: of });
  expect((await accept(first)).status).toBe(404);
  expect((await accept(token)).data.role).toBe('admin');

  await page.reload();
  await page.getByRole('combobox', { name: 'Role of Grace Hopper' }).click();
  await page.getByRole('option', { name: /^Member/ }).click();
  await page.getByText('Grace Hopper is now a member').waitFor();
  const members = `/v1/organizations/${ada.organizationId}/members`;
  const roles = async () => (await ada.session.get(members)).data.map(({ role }: { role: string }) => role);
  expect(await roles()).toEqual(['owner', 'member']);
  await settled();
  await expectClean();

  await page.getByRole('button', { name: 'Hand over ownership' }).click();
  await page.getByRole('combobox', { name: 'New owner' }).click();
  await page.getByRole('option', { name: /Grace Hopper/ }).click();
  await page.getByRole('button', { name: 'Hand over', exact: true }).click();
  await page.getByText('Grace Hopper is the owner now').waitFor();
  expect(await roles()).toEqual(['admin', 'owner']);

  await page.getByRole('button', { name: /^Leave/ }).click();
  await page.getByRole('button', { name: 'Leave organization' }).click();
  await page.waitForURL((url) => !url.pathname.includes(ada.projectId));
  expect((await grace.session.get(members)).data).toHaveLength(1);
});

test('a session elsewhere is ended, the name and the password change', async ({ service, visit }) => {
  const ada = await signUp(service);
  const elsewhere = await signInAgain(service, ada);
  const { page } = await visit(pathOf(ada, 'account'), { as: ada });
  const sessions = page.getByRole('table', { name: 'Sessions' });
  await sessions
    .getByRole('row', { name: /This one/ })
    .getByRole('button', { name: 'Sign out' })
    .waitFor();
  await expect.poll(() => sessions.getByRole('button', { name: 'Sign out' }).count()).toBe(1);
  await sessions.getByRole('button', { name: /^End/ }).click();
  await page.getByText('Session ended').waitFor();
  expect((await elsewhere.get('/v1/sessions')).status).toBe(401);
  expect((await ada.session.get('/v1/sessions')).data).toHaveLength(1);

  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByRole('button', { name: 'Save name' }).click();
  await page.locator('aside').getByText('Ada Lovelace').waitFor();

  await page.getByLabel('Present password').fill('not the one it is');
  await page.getByLabel('New password').fill('another-horse-battery');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('This is not your password.').waitFor();
  await page.getByLabel('Present password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Password changed').waitFor();
  await expect(signIn(service, ada.email)).rejects.toThrow('401');
});

test('budgets are set, a project is deleted by its name, and the log says so', async ({ service, visit }) => {
  const ada = await signUp(service);
  const { page, settled, expectClean } = await visit(pathOf(ada), { as: ada });
  await page.getByLabel('Tokens a day').fill('many');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').first().waitFor();
  await page.getByLabel('Tokens a day').fill('5,000,000');
  await page.getByLabel('Name', { exact: true }).fill('Analytical Engines');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Settings saved').waitFor();
  const organization = `/v1/organizations/${ada.organizationId}`;
  expect((await ada.session.get(organization)).data).toMatchObject({
    name: 'Analytical Engines',
    budget: { maxTokensPerDay: 5_000_000, maxCostUsdPerMonth: null },
  });

  const { data: shop } = await ada.session.post('/v1/projects', {
    organizationId: ada.organizationId,
    name: 'Shop',
  });
  // The keyboard alone moves from the first tab to the third.
  await page.getByRole('tab', { name: 'Organization' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tab=projects/);
  await page.getByRole('button', { name: 'Actions for Shop' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Settings' }).press('Enter');
  await page.getByLabel('Days until runs are deleted').fill('30');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText('Project saved').waitFor();
  const { data: kept } = await ada.session.get(`/v1/projects/${shop.id}`);
  expect(kept).toMatchObject({ runDays: 30, name: 'Shop' });

  await page.getByRole('button', { name: 'Actions for Shop' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const remove = page.getByRole('button', { name: 'Delete project' });
  expect(await remove.getAttribute('aria-disabled')).toBe('true');
  await page.getByLabel(/Type Shop/).fill('Shop');
  await remove.click();
  await page.getByText('Shop was deleted').waitFor();
  expect((await ada.session.get(`/v1/projects/${shop.id}`)).status).toBe(404);

  await page.getByRole('tab', { name: 'Audit log' }).click();
  await page.getByRole('row', { name: /Project deleted.*Shop/ }).waitFor();
  await page.getByRole('combobox', { name: 'Kind of change' }).click();
  await page.getByRole('option', { name: 'Organization renamed' }).click();
  await page.getByRole('row', { name: /Analytical Engines.*Test Person/ }).waitFor();
  await page.getByRole('row', { name: /Project deleted/ }).waitFor({ state: 'detached' });
  expect(page.url()).toContain('action=organization.renamed');
  await settled();
  await expectClean();
});

test('an organization and an account are deleted by those who may', async ({ service, visit }) => {
  const ada = await signUp(service);
  const { page } = await visit(pathOf(ada), { as: ada });
  const { data } = await ada.session.get(`/v1/organizations/${ada.organizationId}`);
  await page.goto(pathOf(ada, 'account'));
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();

  await page.goto(pathOf(ada));
  await page.getByText('Pause the active routines first.').waitFor();
  await page.getByRole('button', { name: 'Delete organization' }).click();
  await page.getByLabel(/^Type/).fill(data.name);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete organization' }).click();
  await page.waitForURL(/\/welcome/);
  expect((await ada.session.get('/v1/organizations')).data).toEqual([]);

  // The account has no organization left, so it can be deleted.
  await page.getByRole('button', { name: 'Delete account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Your password').fill('not the password');
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await dialog.getByText('This is not your password.').waitFor();
  await dialog.getByLabel('Your password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Delete account' }).click();
  await page.waitForURL(/\/sign-in$/);
  expect((await ada.session.get('/v1/organizations')).status).toBe(401);
  const { email } = ada;
  const again = await postAuth(service, '/auth/sign-in/email', { email, password: PASSWORD });
  expect(again.status).toBe(401);
});

test('a member chooses a digest in the zone of the browser, and ends it again', async ({ service, visit }) => {
  const ada = await signUp(service);
  const grace = await joins(ada, await signUp(service));
  const { page, complaints } = await visit(pathOf(grace, 'notifications'), { as: grace });
  const digest = page.getByRole('region', { name: 'Your digest' });
  const chosen = async () => (await grace.session.get(`/v1/projects/${ada.projectId}/digest`)).data;
  const choose = async (label: string, option: string) => {
    await digest.getByRole('combobox', { name: label, exact: true }).click();
    await page.getByRole('option', { name: option }).click();
  };
  await choose('How often', 'Every week');
  await choose('On', 'Wednesday');
  await choose('At', '07:00');
  await digest.getByRole('button', { name: 'Save the digest' }).click();
  await digest.getByText('if there is news').waitFor();
  expect(await chosen()).toMatchObject({
    frequency: 'weekly',
    weekday: 'wednesday',
    hour: 7,
    timezone: 'Europe/Berlin',
  });
  await choose('How often', 'Never');
  await digest.getByRole('button', { name: 'Save the digest' }).click();
  // The new choice hides the next time at once, so only the service can tell that it was saved.
  await expect.poll(async () => (await chosen()).frequency).toBe('off');
  await digest.getByText('if there is news').waitFor({ state: 'detached' });
  expect((await ada.session.get(`/v1/projects/${ada.projectId}/digest`)).data.frequency).toBe('off');
  expect(complaints).toEqual([]);
});
