import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { ageCodes, ageProofs, giveRole } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { addSecondFactor, codeOf } from '#test/support/second-factor.ts';
import { dashboardTest } from './support/fixtures.ts';
import { sequence } from './support/photograph.ts';
import { signInByForm } from './support/steps/accounts.ts';

const test = dashboardTest();

test('a second factor is added, asked for at the sign-in, recovered and removed', async ({ service, visit }) => {
  const { database } = service.deps;
  const person = await signUp(service);
  const take = sequence('second-factor');
  const watched = await visit(`/p/${person.projectId}/settings?tab=account`, { as: person });
  const { page, settled, complaints } = watched;
  await page.getByRole('button', { name: 'Add a second factor' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const secret = await keyOf(page);
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.getByRole('button', { name: 'Confirm code' }).click();
  await page.getByText('The code is wrong').waitFor();
  await take(watched, 'add');
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await page.getByRole('button', { name: 'Confirm code' }).click();
  const codes = await page.getByRole('region', { name: 'recovery codes' }).innerText();
  const [recoveryCode = ''] = codes.trim().split('\n');
  const downloaded = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as text' }).click();
  expect((await downloaded).suggestedFilename()).toBe('recovery-codes.txt');
  await take(watched, 'codes');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('10 recovery codes left').waitFor();
  await take(watched, 'on');

  await page.goto('/sign-in');
  await page.context().clearCookies();
  await page.goto('/sign-in');
  await signInByForm(page, person.email);
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await ageCodes(database, person.userId);
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.keyboard.press('Enter');
  await page.getByText('The code is wrong').waitFor();
  await take(watched, 'sign-in');
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/p\/prj_/);

  await page.context().clearCookies();
  await page.goto('/sign-in');
  await signInByForm(page, person.email);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCode);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/p\/prj_/);

  await page.goto(`/p/${person.projectId}/settings?tab=account`);
  await page.getByText('9 recovery codes left').waitFor();
  await ageProofs(database, person.userId, '16 minutes');
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('button', { name: 'Remove second factor' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await take(watched, 'proof');
  await ageCodes(database, person.userId);
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await page.getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.getByRole('button', { name: 'Add a second factor' }).waitFor();
  await settled();
  expect(complaints).toEqual([]);
});

test('a passkey is added, signs in without the password, proves who one is and is removed', async ({
  service,
  visit,
}) => {
  const { database } = service.deps;
  const person = await signUp(service);
  await addSecondFactor(database, person);
  const take = sequence('passkey');
  const account = `/p/${person.projectId}/settings?tab=account`;
  const watched = await visit(account, { as: person });
  const { page, complaints } = watched;
  await addAuthenticator(page);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('My laptop');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('button', { name: 'Remove My laptop' }).waitFor();
  await take(watched, 'added');

  await page.context().clearCookies();
  await page.goto('/sign-in');
  await take(watched, 'sign-in');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(/\/p\/prj_/);

  await page.goto(account);
  await ageProofs(database, person.userId, '16 minutes');
  await page.getByRole('button', { name: 'Remove My laptop' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await take(watched, 'proof');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Passkey removed').waitFor();
  await page.getByRole('list', { name: 'Passkeys' }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);

  await page.context().clearCookies();
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('The passkey is unknown here').waitFor();
});

test('an action that changes access asks for the password and then completes by itself', async ({ service, visit }) => {
  const person = await signUp(service);
  await ageProofs(service.deps.database, person.userId, '16 minutes');
  const watched = await visit(`/p/${person.projectId}/api-keys`, { as: person });
  const { page } = watched;
  await page.getByRole('button', { name: 'New API key' }).first().click();
  const form = page.getByRole('dialog', { name: 'New API key' });
  await form.getByLabel('Name').fill('nightly');
  await form.getByRole('button', { name: 'Create key' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByRole('button', { name: 'Cancel' }).click();
  await form.getByText('you did not confirm your identity').waitFor();
  await form.getByRole('button', { name: 'Create key' }).click();
  await proof.getByLabel('Your password').fill('not the password');
  await page.keyboard.press('Enter');
  await proof.getByText('This is not your password.').waitFor();
  await sequence('proof')(watched, 'over-a-dialog');
  await proof.getByLabel('Your password').fill('correct-horse-battery');
  await page.keyboard.press('Enter');
  await page
    .getByText(/ras_\w+/)
    .first()
    .waitFor();
});

test('who lacks a demanded factor is led to it, and is then let in', async ({ service, visit }) => {
  const { database } = service.deps;
  const [owner, member] = [await signUp(service), await signUp(service)];
  await giveRole(database, owner.organizationId, member.userId, 'member');
  await addSecondFactor(database, owner);
  const settings = `/p/${owner.projectId}/settings`;
  const own = await visit(settings, { as: owner });
  await own.page.getByRole('switch', { name: 'Require a second factor' }).click();
  await own.page.getByText('A second factor is required').waitFor();

  const watched = await visit(settings, { as: member });
  const { page } = watched;
  await page.getByText('This organization requires a second factor').waitFor();
  await sequence('demanded')(watched, 'page');
  await page.getByRole('button', { name: 'Add a second factor' }).click();
  const secret = await keyOf(page);
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await page.getByRole('button', { name: 'Confirm code' }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
});

test('an owner has the sessions of a member prove who they are, and ends what programs may do for them', async ({
  service,
  visit,
}) => {
  const [owner, member] = [await signUp(service), await signUp(service)];
  await giveRole(service.deps.database, owner.organizationId, member.userId, 'member');
  const watched = await visit(`/p/${owner.projectId}/settings?tab=members`, { as: owner });
  const { page } = watched;
  await page.getByRole('button', { name: 'Sign out Test Person' }).click();
  await page.getByRole('dialog').waitFor();
  await sequence('members')(watched, 'end-sessions');
  await page.getByRole('checkbox', { name: 'Also end the access of this member’s programs here' }).click();
  await page.getByRole('button', { name: 'End sessions' }).click();
  await page.getByText('1 session, 0 API keys and 0 assistants ended').waitFor();
  const there = await member.session.with({ 'X-Project-Id': owner.projectId }).get('/v1/routines');
  expect([there.status, there.body.error.code]).toEqual([403, 'reauthentication_required']);
  expect((await member.session.get('/v1/sessions')).status).toBe(200);
});

/** Reads the key that the page shows for an authenticator. */
async function keyOf(page: Page): Promise<string> {
  const key = page.getByRole('dialog').locator('code', { hasText: /[A-Z2-7]{4} [A-Z2-7]{4}/ });
  return (await key.innerText()).replaceAll(' ', '');
}

/** Gives the browser of a page a virtual authenticator that always finds the user's finger. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
