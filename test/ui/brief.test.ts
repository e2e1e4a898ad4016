import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Service } from '#test/support/service.ts';
import { marker } from '#test/core/integrations/tools/support.ts';
import { prices, typedRoutine } from '#test/core/execution/results/world.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { signUp } from '#test/support/people.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';

const test = dashboardTest();

const TABLE = ['# Pages', '', '| page | status |', '|---|---|'].join('\n');

function finish(service: Service, mark: string, urgency: string, text: string, summary: string): void {
  const calls = [{ name: 'finish', arguments: { outcome: 'done', summary, urgency } }];
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls, text } });
}

test('Home says first what needs its reader, then what is new in words, and what is over last', async ({
  service,
  visit,
}) => {
  const reader = await signUp(service);
  const key = await reader.key();
  const mark = marker();
  const says = (text: string) => service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  const pages = await createRoutine(key, { name: 'Pages of the shop', instructions: mark });
  for (const rows of ['| /start | 200 |', '| /start | 200 |\n| **/signup** | [404](https://shop.example) |']) {
    says(`${TABLE}\n${rows}`);
    await runOnce(key, pages);
  }
  const plans = await typedRoutine(service, key, { name: 'Prices of competitors' });
  await plans.run(prices({ tea: 3 }));
  await plans.run(prices({ tea: 4, jam: 2 }));
  const alarm = marker();
  const checked = { instructions: alarm, outcome: 'required', name: 'Sign-up page' };
  finish(service, alarm, 'high', 'It answers 404.', 'No one can start a trial.');
  await runOnce(key, await createRoutine(key, checked));
  const watch = await typedRoutine(service, key, { resultSchema: null, resultKey: null, name: 'Uptime' });
  await watch.run('The site is down.');
  const up = await watch.run('The site is up.');
  await key.post('/v1/results/read', { runIds: [up.id] });
  const session = reader.session.with({ 'X-Project-Id': reader.projectId });
  await session.post('/v1/results/read', { runIds: [up.id] });

  const path = `/p/${reader.projectId}`;
  await photograph(visit, 'home', [{ as: reader, path, name: 'brief' }]);
  const { page, complaints } = await visit(path, { as: reader });
  await page.getByText('One thing needs you, two are new, one is over.').waitFor();
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Urgent, according to the model').waitFor();
  await needs.getByText('No one can start a trial.').waitFor();
  const news = page.getByRole('region', { name: 'New results' });
  const links = await news.locator('[data-run]').getByRole('link').allTextContents();
  expect(links).toEqual(['Prices of competitors', 'Pages of the shop', 'Uptime']);
  const row = (name: string) => news.getByRole('listitem').filter({ has: page.getByRole('link', { name }) });
  await row('Uptime')
    .getByText(/^Over since/)
    .waitFor();
  await row('Uptime').getByText('The site is up.').waitFor();
  // Data rows appear in words, and a changed item by its name.
  expect(await linesOf(row('Prices of competitors'))).toEqual(['+New: jam, price 2', '~Changed: tea: price 3 → 4']);

  await row('Uptime').getByRole('button', { name: 'Mark as read' }).click();
  await row('Uptime').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await row('Uptime').waitFor();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await page.getByText('You have read everything.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await row('Pages of the shop').waitFor();
  expect(await news.innerText()).not.toMatch(/[|*]|\]\(/);
  expect(complaints).toEqual([]);
});

function linesOf(row: ReturnType<Page['getByRole']>): Promise<string[]> {
  return row.getByRole('listitem').allTextContents();
}

test('a reader says why a result was not useful, asks about it, and finds the note beside the instructions', async ({
  service,
  visit,
}) => {
  const reader = await signUp(service);
  const key = await reader.key();
  const mark = marker();
  const says = (text: string) => service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  const id = await createRoutine(key, { name: 'Weekly report', instructions: mark });
  says('# Week 47\n\nVisits fell.');
  const run = await runOnce(key, id);
  const path = `/p/${reader.projectId}/runs/${run.id}`;
  const { page, complaints } = await visit(path, { as: reader });
  const opinion = page.getByRole('region', { name: 'Was it useful?' });
  await opinion.getByRole('button', { name: 'Not useful' }).click();
  await opinion.getByLabel('Because').fill('It names no page.');
  await opinion.getByRole('button', { name: 'Save the note' }).click();
  await opinion.getByText('It names no page.').waitFor();
  expect((await key.get(`/v1/runs/${run.id}`)).data.verdict).toMatchObject({
    useful: false,
    note: 'It names no page.',
    by: { kind: 'person', id: reader.userId },
  });

  says('**/pricing** lost a third.');
  const questions = page.getByRole('region', { name: 'Questions about the result' });
  await questions.getByLabel('Your question').fill('On which page?');
  await questions.getByRole('button', { name: 'Ask' }).click();
  await questions.getByText('On which page?').waitFor();
  await questions.getByText('/pricing', { exact: true }).waitFor();
  expect(await questions.getByLabel('Your question').inputValue()).toBe('');
  await photograph(visit, 'run', [{ as: reader, path, name: 'thread' }]);
  await questions.getByRole('link', { name: 'Run of this answer' }).click();
  await page.getByRole('link', { name: 'The result that the question is about' }).waitFor();
  expect(await page.getByRole('region', { name: 'Questions about the result' }).count()).toBe(0);

  await page.goto(`/p/${reader.projectId}/routines/${id}/edit`);
  const said = page.getByRole('region', { name: 'What readers said about the results' });
  await said.getByText('It names no page.').waitFor();
  expect(complaints).toEqual([]);
});
