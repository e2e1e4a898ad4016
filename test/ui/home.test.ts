import { expect, onTestFinished } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { signUp } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { marker, routineWith, scriptCalls } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';
import { newId } from '#lib/ids.ts';
import { ago, changeRoutines, plantAccounts, plantActiveRoutines, plantRun, spendToday } from '#test/support/given.ts';

const test = dashboardTest().extend('key', { scope: 'file' }, ({ person }) => person.key());

test('a bad morning names what is wrong, each with the action that mends it', async ({ service, visit }) => {
  const owner = await signUp(service);
  const { database } = service.deps;
  const key = await owner.key();
  const path = `/p/${owner.projectId}`;
  const broken = await createRoutine(key, {
    name: 'Prices of three competitors',
    checks: [{ type: 'distinct_sources', atLeast: 3 }],
  });
  await runOnce(key, broken);
  await runOnce(key, broken);
  const stopped = await activeRoutine(key, { name: 'Daily site check' });
  await changeRoutines(database, stopped, {
    state: 'paused',
    stateReason: 'paused after 5 failed runs in a row',
    updatedAt: ago('3 hours'),
  });
  await changeRoutines(database, broken, { maxTokensPerDay: 1_000 });
  await spendToday(database, broken, 930);
  await plantAccounts(database, owner.projectId, {
    ownerId: owner.userId,
    state: 'needs_reauthorization',
    credential: 'sealed',
    providerName: 'Provider of models',
  });
  const { data: skill } = await key.post('/v1/skills', {
    name: 'House style',
    instructions: 'Keep it short, please.',
  });
  const written = await activeRoutine(key, { name: 'Content plan', skills: [skill.id] });
  await key.patch(`/v1/skills/${skill.id}`, { instructions: 'Keep it very short, please.' });
  await photograph(visit, 'home', [{ as: owner, path, name: 'bad-morning' }]);

  const { page, complaints } = await visit(path, { as: owner });
  const needs = page.getByRole('region', { name: 'Needs you' });
  const row = (text: string) => needs.getByRole('listitem').filter({ hasText: text });
  await row('Budget at 93%').getByRole('link', { name: 'Change the budget' }).waitFor();
  await row('Provider of models').getByRole('link', { name: 'Sign in again' }).waitFor();
  const proof = row('House style').getByRole('link', { name: 'Test the new version' });
  expect(await proof.getAttribute('href')).toBe(`${path}/routines/${written}`);
  await row('Paused after 5 failed runs').getByRole('button', { name: 'Activate again' }).click();
  await row('Daily site check').waitFor({ state: 'detached' });
  expect((await key.get(`/v1/routines/${stopped}`)).data.state).toBe('active');
  // A failure appears once, in the section where a person can repair it.
  const news = page.getByRole('region', { name: 'New results' });
  await page.getByText(/^Four things need you/).waitFor();
  expect(await news.getByRole('link', { name: 'Prices of three competitors' }).count()).toBe(0);
  await row('2 times, last').getByRole('button', { name: 'Run again' }).click();
  await page.getByText('Started again').waitFor();
  await expect.poll(async () => (await key.get(`/v1/routines/${broken}/runs`)).data.length).toBe(3);
  const week = page.getByRole('region', { name: 'The week at a glance' });
  expect(await week.getByRole('listitem').count()).toBe(7);
  await week.getByText(/: 2 runs succeeded, [23] failed/).waitFor();
  expect(complaints).toEqual([]);
});

test('no page shows a run that worked without its tools as a success', async ({ service, visit }) => {
  const owner = await signUp(service);
  const key = await owner.key();
  const tools = await startHostileTools();
  onTestFinished(() => tools.stop());
  const mark = marker();
  const { routineId } = await routineWith(key, ['lookup'], {
    connection: { url: tools.url('honest') },
    routine: { name: 'Site audit', instructions: mark },
  });
  tools.control.answer = () => ({ content: [], isError: true });
  scriptCalls(service, mark, { name: 'lookup', arguments: { query: 'pages' } });
  await runOnce(key, routineId);
  const { page, complaints } = await visit(`/p/${owner.projectId}`, { as: owner });
  const row = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
  await row.filter({ hasText: 'Every call to the tools of a connection failed' }).waitFor();
  await row.getByRole('link', { name: 'See the calls' }).click();
  const verdict = page.locator('[data-verdict]');
  await verdict.getByText('Succeeded in part').waitFor();
  await verdict.getByText('so the run had to work without them').waitFor();
  expect(complaints).toEqual([]);
});

test('home of five hundred routines, and of a project in which everything has failed', async ({ service, visit }) => {
  const { database } = service.deps;
  const states = [];
  for (const { name, failing } of [
    { name: 'five-hundred', failing: 40 },
    { name: 'all-failed', failing: 500 },
  ]) {
    const owner = await signUp(service);
    const ids = Array.from({ length: 500 }, () => newId('routine'));
    await plantActiveRoutines(database, owner.projectId, ids, { schedule: '0 7 * * *' });
    for (const [nth, id] of ids.entries()) {
      const at = ago(`${nth + 5} minutes`);
      const ended = { startedAt: at, createdAt: at, finishedAt: at, costUsd: '0.0132' };
      const name = `${nth % 3 === 0 ? 'Prices of the competitors in' : 'Site check of'} shop ${nth}`;
      await changeRoutines(database, id, { name });
      await plantRun(
        database,
        id,
        nth % (500 / failing) < 1
          ? {
              ...ended,
              state: 'failed',
              reason: 'provider_unavailable',
              errorMessage: 'The model provider cannot be reached.',
            }
          : { ...ended, state: 'succeeded', result: `# Shop ${nth}\n\nAll pages answer.` },
      );
    }
    states.push({ as: owner, path: `/p/${owner.projectId}`, name });
  }
  await photograph(visit, 'home', states);
  const [, { as: owner, path } = states[0]!] = states;
  const { page, complaints } = await visit(path, { as: owner });
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByRole('button', { name: 'Show 14 more' }).waitFor();
  expect(await needs.getByRole('listitem').count()).toBe(6);
  const results = page.locator('[data-run]');
  expect(await results.count()).toBe(8);
  const more = page.getByRole('button', { name: 'Show more' });
  await more.press('Enter');
  expect(await results.count()).toBe(20);
  await more.press('Enter');
  await expect.poll(() => results.count()).toBe(40);
  expect(complaints).toEqual([]);
});

test('the first steps follow the data of the server, and disappear when they are done', async ({ service, visit }) => {
  const newcomer = await signUp(service);
  const key = await newcomer.key();
  const path = `/p/${newcomer.projectId}`;
  const { page, complaints } = await visit(path, { as: newcomer });
  await page.getByRole('link', { name: 'Make a routine' }).waitFor();
  const id = await createRoutine(key);
  await page.reload();
  await page.getByRole('link', { name: 'Run it once' }).waitFor();
  await runOnce(key, id);
  await key.post(`/v1/routines/${id}/activate`);
  await page.reload();
  await page.getByRole('link', { name: 'Have results sent' }).waitFor();
  const sent = await key.patch(`/v1/routines/${id}`, { webhookUrl: 'http://127.0.0.1:9999/hook' });
  expect([sent.status, sent.body.error]).toEqual([200, undefined]);
  await page.reload();
  await page.getByText('Nothing needs you now.').waitFor();
  await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' });
  // The steps stay done, even if the only routine that completed them is gone.
  await key.delete(`/v1/routines/${id}`);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.reload();
  await page.getByText('Nothing needs you now.').waitFor();
  expect(asked.filter((url) => url.includes('sendsResults'))).toEqual([]);
  expect(complaints).toEqual([]);
});

test('routines that the service has stopped are named, however many routines are newer', async ({ service, visit }) => {
  const owner = await signUp(service);
  const key = await owner.key();
  const stopped = await createRoutine(key, {
    name: 'Old audit',
    webhookUrl: 'http://127.0.0.1:9999/hook',
  });
  await pauseByService(service, stopped);
  for (let index = 0; index < 101; index += 1) await createRoutine(key, { name: `${index}` });
  const { page, complaints } = await visit(`/p/${owner.projectId}`, { as: owner });
  await page.getByText('The schedule has ended.').waitFor();
  // The steps that only the old routine completed are done.
  const steps = page.getByRole('region', { name: 'First steps' }).getByRole('listitem');
  await expect.poll(() => steps.filter({ hasText: ', done' }).count()).toBe(3);
  await page.getByRole('link', { name: 'Old audit' }).click();
  await page.waitForURL(`**/routines/${stopped}`);
  await page.goto(`/p/${owner.projectId}/routines?state=stopped`);
  await page.getByRole('link', { name: 'Old audit' }).waitFor();
  expect(await page.getByRole('link', { name: '100', exact: true }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

/** Pauses a routine like the service at the end of its window. */
async function pauseByService({ deps }: Service, id: string): Promise<void> {
  await changeRoutines(deps.database, id, { state: 'paused', stateReason: 'schedule_ended' });
}
