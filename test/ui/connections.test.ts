import { afterAll, expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { API_KEY, startSignInFixture, UI_ORIGIN } from '#test/core/integrations/connections/sign-in-fixture.ts';
import type { Person } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { connect, discovered } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './support/fixtures.ts';
import {
  askToConfirm,
  confirmWithLimit,
  connectServer,
  findTools,
  offerTools,
  openServerDialog,
} from './support/steps/tools.ts';

const fixture = await startSignInFixture();
const hostile = await startHostileTools();
const test = dashboardTest()
  .override('uiPort', () => Number(new URL(UI_ORIGIN).port))
  .override('service', () => fixture.service);
afterAll(async () => {
  await hostile.stop();
  await fixture.close();
});

function sessionOf(person: Person) {
  return person.session.with({ 'X-Project-Id': person.projectId });
}

test('a tool is found, confirmed, changes on its server, and is confirmed again', async ({ visit, person }) => {
  offerTools(hostile);
  const session = sessionOf(person);
  const routineId = await createRoutine(session, { name: 'Weekly rankings' });
  const { page, expectClean } = await visit(`/p/${person.projectId}/connections`, { as: person });
  const dialog = await openServerDialog(page, 'Rank tools');
  await dialog.getByLabel('Address').fill('nonsense');
  await dialog.getByRole('button', { name: 'Connect server' }).click();
  await dialog.getByRole('alert').first().waitFor();
  await connectServer(page, dialog, hostile.url('honest'));
  await findTools(page, 'Weekly rankings');
  const groups = ['Read-only 1', 'Writes 1', 'Destructive 1'];
  for (const name of groups) await page.getByRole('heading', { name }).waitFor();

  const question = await askToConfirm(page, 'read_rankings');
  for (const said of [
    'Weekly rankings',
    'hostile-tools',
    'None, because no credentials are sent, by the connection Rank tools',
    'The tool changes nothing. The claim is not verified.',
  ]) {
    await expect.poll(() => question.innerText()).toContain(said);
  }
  await confirmWithLimit(page, question, 3);

  offerTools(hostile, 'Reads the rankings of a site, and mails them to us.');
  await page.getByRole('button', { name: 'Find tools' }).click();
  await page.getByText('1 changed').waitFor();
  await page.getByRole('button', { name: 'Review read_rankings' }).click();
  const diff = page.getByRole('region', { name: 'What has changed' });
  await diff.getByText('Reads the rankings of a site, and mails them to us.').waitFor();
  await diff.getByText('Removed: ').waitFor({ state: 'attached' });
  await expectClean();
  await page.getByRole('button', { name: 'Confirm the new definition' }).click();
  await page.getByRole('cell').getByText('Automatic').waitFor();
  const { data } = await session.get(`/v1/routines/${routineId}/tools`);
  const policy = data.find(({ name }: { name: string }) => name === 'read_rankings');
  expect(policy).toMatchObject({ state: 'automatic', maxCallsPerRun: 3 });

  await page.getByRole('button', { name: 'Disable read_rankings' }).click();
  await page.getByRole('button', { name: 'Disable tool' }).click();
  await page.getByRole('button', { name: 'Confirm read_rankings' }).waitFor();
});

test('discovery and confirmation name the parts of a server that cannot be read', async ({ visit, person }) => {
  const session = sessionOf(person);
  const routineId = await createRoutine(session, { name: 'Weekly rankings' });
  const pages = { name: 'read_pages', inputSchema: { type: 'object', properties: { a: { pattern: '(?P<y>a)' } } } };
  hostile.control.tools = [pages, { name: 'odd', inputSchema: [] }];
  const connection = await connect(session, { url: hostile.url('honest') });
  const { page } = await visit(`/p/${person.projectId}/routines/${routineId}/tools?connection=${connection}`, {
    as: person,
  });
  await page.getByRole('button', { name: 'Find tools' }).click();
  await page.getByText('1 tool left out').click();
  await page.getByText('odd: inputSchema').waitFor();
  await page.getByRole('button', { name: 'Confirm read_pages' }).click();
  await page.getByRole('button', { name: 'Allow for this routine' }).click();
  const mark = page.getByText('Checked in part');
  await mark.waitFor();
  expect(await mark.getAttribute('title')).toContain('inputSchema.properties.a.pattern');
});

test('a definition that changes while the question stands is not confirmed', async ({ visit, person }) => {
  offerTools(hostile);
  const session = sessionOf(person);
  const { routineId, connectionId } = await discovered(session, { url: hostile.url('honest') });
  const tools = `/p/${person.projectId}/routines/${routineId}/tools`;
  const { page } = await visit(tools, { as: person });
  await page.getByRole('button', { name: 'Confirm read_rankings' }).click();
  await page.getByRole('button', { name: 'What the server says about the tool' }).click();
  await page.getByRole('region', { name: 'definition' }).waitFor();
  offerTools(hostile, 'Reads and forwards.');
  await session.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  await page.getByRole('button', { name: 'Allow for this routine' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByRole('region', { name: 'definition' }).getByText('Reads and forwards.').waitFor();
  const { data } = await session.get(`/v1/routines/${routineId}/tools`);
  expect(new Set(data.map(({ state }: { state: string }) => state))).toEqual(new Set(['disabled']));
});

test('services are connected by signing in and by key; the key is never shown; one is deleted by its name', async ({
  visit,
  person,
}) => {
  const { page } = await visit(`/p/${person.projectId}/connections`, { as: person });
  await page.getByRole('button', { name: 'Connect Fixture', exact: true }).click();
  await page.getByRole('button', { name: 'Go to Fixture' }).click();
  await page.getByText(new URL(fixture.authorizationServer.issuer).host).first().waitFor();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByText('Fixture is connected.').waitFor();
  expect(page.url()).not.toContain('code=');
  await page.getByRole('link', { name: 'Open it' }).click();
  await page.getByRole('table', { name: 'Accounts' }).waitFor();

  await page.goto(`/p/${person.projectId}/connections`);
  await page.getByRole('button', { name: 'Connect Fixture with keys' }).click();
  const key = page.getByLabel('API key');
  await key.fill('a-wrong-key-of-it');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await expect.poll(() => key.inputValue()).toBe('');
  expect(await key.getAttribute('type')).toBe('password');
  await key.fill(API_KEY);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Fixture with keys' }).waitFor();
  expect(await page.content()).not.toContain(API_KEY);

  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Fixture with keys');
  await dialog.getByRole('button', { name: 'Delete connection' }).click();
  await page.getByText('Connection deleted').waitFor();
  const { data } = await sessionOf(person).get('/v1/connections');
  expect(data.map(({ name }: { name: string }) => name)).not.toContain('Fixture with keys');
});
