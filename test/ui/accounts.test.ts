import { expect } from 'vitest';
import { startMailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD, postAuth, signIn, type Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { dashboardTest } from './support/fixtures.ts';
import { confirmationLink, signInByForm, signUpByForm } from './support/steps/accounts.ts';

const mailbox = await startMailbox();
const test = dashboardTest({ env: mailbox.env }).override('person', ({ service }) => confirmedPerson(service));

test('a page that needs a session leads to the sign-in and back', async ({ visit, person }) => {
  const target = `/p/${person.projectId}/runs?state=failed`;
  const { page } = await visit(target);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInByForm(page, person.email);
  await page.waitForURL((url) => `${url.pathname}${url.search}` === target);
});

test('the sign-in page leads to no other origin', async ({ visit, person, dashboard }) => {
  const { page } = await visit('/sign-in?to=%2F%2Fevil.example%2F');
  await signInByForm(page, person.email);
  await page.waitForURL(/\/p\/prj_/);
  expect(new URL(page.url()).origin).toBe(dashboard.url);
});

test('the link in the mail replaces a forgotten password', async ({ visit, service }) => {
  // The link ends every session of its account, so this test signs up another person.
  const person = await confirmedPerson(service);
  const key = await person.key();
  const { page } = await visit('/reset-password');
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByRole('button', { name: 'Mail me the link' }).click();
  await page.getByRole('heading', { name: 'Look into your mailbox' }).waitFor();
  const link = await mailbox.find(person.email, /(https?:\/\/\S+\/reset-password#\S+)/);
  await page.goto(link);
  await page.waitForURL((url) => url.hash === '');
  await page.getByLabel('New password').fill('another-horse-battery');
  await page.getByRole('checkbox', { name: 'Also end the access of my programs' }).click();
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Your password is changed').waitFor();
  expect((await key.get('/v1/routines')).status).toBe(401);
});

test('an invitation is accepted by the address that it was sent to', async ({ visit, person }) => {
  const email = newEmail();
  const invited = await person.session.post(`/v1/organizations/${person.organizationId}/invitations`, {
    email,
    role: 'member',
  });
  expect(invited.status).toBe(201);
  const link = await mailbox.find(email, /(https?:\/\/\S+\/invitations#\S+)/);
  const { page } = await visit(link);
  await page.getByRole('heading', { name: 'You are invited' }).waitFor();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await signUpByForm(page, mailbox, { name: 'Grace', email });
  await page.goto(link);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await signInByForm(page, email);
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.waitForURL(new RegExp(`/p/${person.projectId}`));
});

/** Signs up a person who has followed the link in the mail. */
async function confirmedPerson(service: Service): Promise<Person> {
  const email = newEmail();
  await postAuth(service, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Ada' });
  await fetch(await confirmationLink(mailbox, email), { redirect: 'manual' });
  return signIn(service, email);
}
