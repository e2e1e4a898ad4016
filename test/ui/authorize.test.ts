import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { authenticateMcpToken } from '#core/accounts/programs/index.ts';
import { codeOf, enterAssistant, exchange, type Asked } from '#test/support/assistants.ts';
import { giveRole } from '#test/support/given.ts';
import { PASSWORD, signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

function pathOf({ page }: Pick<Asked, 'page'>): string {
  return `${page.pathname}${page.search}`;
}

/** Stands in for the assistant's site, to which the browser is redirected. Returns the address of the redirect. */
async function ledBack(page: Page): Promise<() => Promise<string>> {
  await page.route('https://assistant.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Assistant</title>' }),
  );
  return async () => {
    await page.waitForURL('https://assistant.example/**');
    return page.url();
  };
}

test('a person gives an assistant access to run, it is listed, and revoked at once', async ({ service, visit }) => {
  const person = await signUp(service);
  const assistant = await enterAssistant(service);
  const asked = await assistant.ask();
  const { page, settled, expectClean } = await visit(pathOf(asked), { as: person });
  const back = await ledBack(page);
  await page.getByRole('heading', { name: `${assistant.name} wants to act for you` }).waitFor();
  await page.getByText('assistant.example', { exact: true }).waitFor();
  await page.getByText('have registered this assistant').waitFor();
  await page.getByRole('radio', { name: /^Run/ }).click();
  await page.getByRole('button', { name: 'Exactly what this allows' }).click();
  const scopes = page.getByRole('list', { name: 'Scopes' });
  await scopes.getByText('runs:write').waitFor();
  expect(await scopes.getByText('routines:write').count()).toBe(0);
  // The assistant did not ask for these scopes.
  expect(await scopes.getByText('models:read').count()).toBe(0);
  await settled();
  await expectClean();
  await page.getByRole('button', { name: 'Connect' }).click();
  const { body } = await exchange(assistant, asked, codeOf(await back()));
  const access = () => authenticateMcpToken(service.deps, body.access_token);
  expect(await access()).toMatchObject({
    projectId: person.projectId,
    scopes: ['routines:read', 'runs:read', 'runs:write'],
  });

  await page.goto(`/p/${person.projectId}/settings?tab=assistants`);
  const row = page.getByRole('row', { name: new RegExp(assistant.name) });
  await row.getByText('Run: routines:read, runs:read, runs:write').waitFor();
  await row.getByRole('button', { name: /^Revoke/ }).click();
  await page.getByRole('button', { name: 'Revoke access' }).click();
  await page.getByText('No assistants connected').waitFor();
  expect(await access()).toBeUndefined();
});

test('a person who is signed out returns after the sign-in, and denies', async ({ service, visit }) => {
  const person = await signUp(service);
  const assistant = await enterAssistant(service);
  const { page } = await visit(pathOf(await assistant.ask()));
  const back = await ledBack(page);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Deny' }).click();
  const { searchParams } = new URL(await back());
  expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['access_denied', 'a state of the client']);
});

test('an owner switches MCP off, and a member sees that it is', async ({ service, visit }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const { organizationId, projectId } = owner;
  await giveRole(service.deps.database, organizationId, grace.userId, 'member');
  const tab = `/p/${projectId}/settings?tab=assistants`;
  const { page } = await visit(tab, { as: owner });
  const control = (of: Page) => of.getByRole('switch', { name: 'Let programs reach this project through MCP' });
  await control(page).click();
  await page.getByText('MCP is off').waitFor();
  const { data } = await owner.session.get(`/v1/projects/${projectId}`);
  expect(data.mcpEnabled).toBe(false);
  const { page: members } = await visit(tab, { as: grace });
  await members.getByText('Only owners and admins can switch MCP on or off.').waitFor();
  expect(await control(members).isChecked()).toBe(false);
});
