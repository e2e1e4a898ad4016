import { expect } from 'vitest';
import { activeRoutine } from '#test/support/routines.ts';
import { marker } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

test('a change of an active routine is tried while its schedule goes on, and taken over', async ({
  visit,
  person,
  service,
}) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await activeRoutine(client, { name: 'Kept active', instructions: 'The first words.' });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}/edit`, { as: person });
  const mark = marker();
  const release = service.gateway.control.hold({ marker: mark });
  await page.getByRole('textbox', { name: 'Instructions' }).fill(`${mark} The second words.`);
  await page.getByRole('button', { name: 'Save, test and keep active' }).click();
  await page.getByText(/The schedule still runs version 1 until the test succeeds/).waitFor();
  expect((await client.get(`/v1/routines/${id}`)).data).toMatchObject({ state: 'active', revision: 1 });

  release();
  await page.getByText('Nothing has changed.').first().waitFor();
  const { data } = await client.get(`/v1/routines/${id}`);
  expect(data).toMatchObject({ state: 'active', revision: 2, instructions: `${mark} The second words.` });
});

test('a change whose test fails is not taken over, and the page of its routine says so', async ({
  visit,
  person,
  service,
}) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const id = await activeRoutine(client, { name: 'Still active' });
  const mark = marker();
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'error', status: 400 } });
  const patch = { instructions: `${mark} Fail.` };
  await client.post(`/v1/routines/${id}/proposals`, { patch });
  const { page } = await visit(`/p/${person.projectId}/routines/${id}`, { as: person });
  await page.getByText(/The last change was not taken over: its run failed/).waitFor();
  await page.getByRole('link', { name: 'See its run' }).click();
  await page.getByText('proposed', { exact: true }).waitFor();
});
