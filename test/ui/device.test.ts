import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { ApiClient } from '#test/support/client.ts';
import { giveRole } from '#test/support/given.ts';
import { PASSWORD, signUp } from '#test/support/people.ts';
import { openTerminal } from '#test/support/terminals.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

function approve(page: Page, code: string): Promise<void> {
  const confirm = page.getByRole('checkbox', { name: `My own terminal shows ${code}` });
  return confirm.click().then(() => page.getByRole('button', { name: 'Sign in this terminal' }).click());
}

test('a person types the code of their terminal, gives it access to run, and it gets a key', async ({
  service,
  visit,
  person,
}) => {
  const terminal = await openTerminal(service);
  const { page, settled, expectClean } = await visit('/device', { as: person });
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('Type the code that your terminal shows.', { exact: true }).waitFor();
  await page.getByLabel('Code').fill(terminal.userCode.toLowerCase().replace('-', ' '));
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText(terminal.host).waitFor();
  await page.getByText(terminal.address).waitFor();
  await page.getByText('Confirm only a code that your own terminal shows').waitFor();
  await page.getByRole('radio', { name: /^Run/ }).click();
  await page.getByRole('button', { name: 'Exactly what this allows' }).click();
  const scopes = page.getByRole('list', { name: 'Scopes' });
  await scopes.getByText('runs:write').waitFor();
  expect(await scopes.getByText('routines:write').count()).toBe(0);

  const button = page.getByRole('button', { name: 'Sign in this terminal' });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await settled();
  await expectClean();
  await approve(page, terminal.userCode);
  await page.getByText('Your terminal is signed in').waitFor();
  const { body } = await terminal.poll();
  const key = new ApiClient(service.url, { Authorization: `Bearer ${body.access_token}` });
  expect((await key.get('/v1/routines')).status).toBe(200);
  expect(body).toMatchObject({
    project_id: person.projectId,
    scope: 'models:read routines:read runs:read connections:read runs:write',
  });
  await page.getByRole('link', { name: 'See the API keys' }).click();
  await page.getByRole('row', { name: new RegExp(terminal.host) }).waitFor();
});

test('a person who follows the link signed out returns to it after the sign-in, and can deny', async ({
  service,
  visit,
}) => {
  const person = await signUp(service);
  const terminal = await openTerminal(service);
  const { page } = await visit(`/device?user_code=${terminal.userCode}`);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText(terminal.host).waitFor();
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('gets no key, and a message that you refused it').waitFor();
  expect((await terminal.poll()).body.error).toBe('access_denied');
});

test('a member gives read access only', async ({ service, visit, person }) => {
  const member = await signUp(service);
  await giveRole(service.deps.database, person.organizationId, member.userId, 'member');
  const terminal = await openTerminal(service);
  const { page } = await visit(`/device?user_code=${terminal.userCode}`, { as: member });
  await page.getByRole('combobox', { name: 'Project' }).click();
  const { data: project } = await person.session.get(`/v1/projects/${person.projectId}`);
  const { data: organization } = await person.session.get(`/v1/organizations/${person.organizationId}`);
  expect(project.organizationId).toBe(organization.id);
  const options = page.getByRole('option');
  await options.first().waitFor();
  const both = await options.count();
  expect(both).toBe(2);
  const { data: projects } = await member.session.get('/v1/projects');
  const place = projects.findIndex(({ id }: { id: string }) => id === person.projectId);
  await options.nth(place).click();
  await page.getByText('Only owners and admins can give write access').waitFor();
  await approve(page, terminal.userCode);
  await page.getByText('Your terminal is signed in').waitFor();
  expect((await terminal.poll()).body).toMatchObject({
    project_id: person.projectId,
    scope: 'models:read routines:read runs:read connections:read',
  });
});
