import { expect, onTestFinished } from 'vitest';
import { holdingRoutine, runAsking } from '#test/core/execution/actions/support.ts';
import { startTracker } from '#test/core/execution/actions/tracker.ts';
import { dashboardTest } from './support/fixtures.ts';

const test = dashboardTest();

const ISSUE = { name: 'create_issue', arguments: { title: 'Broken link', priority: 2 } };

test('a held call is edited, approved and carried out, and a rule lets the next one like it through', async ({
  service,
  visit,
  person,
}) => {
  const tracker = await startTracker();
  onTestFinished(() => tracker.stop());
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const given = { url: tracker.url, routine: { name: 'Links of the week' } };
  const routine = await holdingRoutine(client, ['create_issue'], given);
  const { run } = await runAsking({ service, client }, routine, ISSUE);
  const home = `/p/${person.projectId}`;
  const { page, expectClean } = await visit(home, { as: person });
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('1 call to approve').waitFor();
  await page.getByText(/^One thing needs you/).waitFor();
  // Home leads to the call itself, and the side bar to the inbox.
  await needs.getByRole('link', { name: 'Decide' }).click();
  await expect.poll(() => page.url()).toMatch(/inbox\?action=act_/);
  await page.getByRole('link', { name: 'Inbox 1 waiting' }).click();
  const call = page.getByRole('article', { name: 'Call of create_issue' });
  await call.getByText('Broken link', { exact: true }).waitFor();
  await call.getByText('Rejects itself in').waitFor();
  await expectClean();

  await page.keyboard.press('e');
  await call.getByRole('textbox', { name: 'title' }).fill('Broken link on /pricing');
  await call.getByRole('textbox', { name: 'priority' }).fill('urgent');
  await call.getByRole('button', { name: 'Approve with these arguments' }).click();
  // The server reports the invalid argument, and the call is not sent.
  await call.getByRole('alert').getByText('priority').waitFor();
  await call.getByRole('textbox', { name: 'priority' }).fill('1');
  await call.getByRole('button', { name: 'Approve with these arguments' }).click();
  await call.getByText('The tool has carried out the call.').waitFor();
  await call.getByRole('region', { name: 'answer' }).getByText('number 1').waitFor();
  await call.getByText('Broken link on /pricing').first().waitFor();
  await call.getByRole('deletion').getByText('2', { exact: true }).waitFor();
  expect(tracker.calls.map(({ arguments: sent }) => sent)).toEqual([{ title: 'Broken link on /pricing', priority: 1 }]);
  await expectClean();

  await call.getByRole('button', { name: 'Calls like this…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('checkbox', { name: 'title' }).click();
  await dialog.getByRole('combobox', { name: 'Comparison of title' }).click();
  await page.getByRole('option', { name: 'begins with' }).click();
  await dialog.getByRole('textbox', { name: 'Value of title' }).fill('Broken link');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await page.getByText('Rule saved. It applies to later calls.').waitFor();
  await runAsking({ service, client }, routine, ISSUE);
  expect(tracker.calls.at(-1)?.arguments).toEqual(ISSUE.arguments);

  await page.goto(`${home}/runs/${run.id}`);
  const held = page.getByRole('region', { name: 'Held for approval' });
  await held.getByText('It answered: number 1').waitFor();
  await page.goto(`${home}/routines/${routine.routineId}/tools`);
  const rules = page.getByRole('region', { name: 'Standing rules' });
  await rules.getByText('Calls whose title begins with "Broken link", with any other arguments.').waitFor();
  await rules.getByText('Used 1 time, ends in').waitFor();
  await rules.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke rule' }).click();
  await rules.getByText('Revoked').waitFor();
  await expectClean();
});
