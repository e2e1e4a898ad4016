import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { dashboardTest } from './support/fixtures.ts';
import { recordRenders } from './support/renders.ts';

const test = dashboardTest();

/** This time is longer than the interval at which the slowest list of these pages is refreshed. */
const QUIET_SECONDS = 60;

test('a minute of reading that finds nothing new draws nothing', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const routineId = await createRoutine(client, { name: 'Quiet' });
  const { id: runId } = await runOnce(client, routineId);
  const project = `/p/${person.projectId}`;
  const watched = await visit('/robots.txt', { as: person });
  const { page, settled } = watched;
  const renders = await recordRenders(page);
  // Timers run while the time stands still, so nothing is drawn just because time passes.
  await page.clock.install();
  await page.clock.setFixedTime(Date.now());
  const reads: string[] = [];
  page.on('request', (request) => reads.push(request.url()));
  // A read that fails draws its part of the page too, and is the fault to look for.
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  page.on('requestfailed', (request) => refused.push(`${request.failure()?.errorText} ${request.url()}`));
  const paths = ['/routines', `/routines/${routineId}`, '/runs', `/runs/${runId}`, '/usage', ''];
  for (const path of paths.filter((path) => FULL_SIZE || path === '/runs')) {
    await page.goto(`${project}${path}`);
    await settled();
    // The first refresh may still find changes of the visit itself.
    await passMinute(page, settled);
    await renders.since();
    reads.length = 0;
    refused.length = 0;
    await passMinute(page, settled);
    expect.soft(refused).toEqual([]);
    expect(reads.length, `reads of "${path}"`).toBeGreaterThan(0);
    expect.soft(await renders.since(), `drawn on "${path}"`).toEqual([]);
  }
});

test('a key in the composer draws its own field', async ({ visit, person }) => {
  const client = person.session.with({ 'X-Project-Id': person.projectId });
  const routineId = await createRoutine(client, { instructions: 'Look at {{site}}.', variables: { site: 'a.test' } });
  const { page, settled } = await visit('/robots.txt', { as: person });
  const renders = await recordRenders(page);
  await page.goto(`/p/${person.projectId}/routines/${routineId}/edit`);
  await settled();
  for (const group of ['Limits', 'When', 'Who is told']) {
    await page.getByRole('button', { name: new RegExp(`^${group}`) }).click();
  }
  const drawn: Record<string, number> = {};
  for (const name of [/^Name/, /^Instructions/, /^site/, /^Steps of a run/, /^Webhook/]) {
    const field = page.getByRole('textbox', { name });
    // The first key marks the form as changed.
    await field.press('End');
    await field.press('1');
    await settled();
    await renders.since();
    await field.press('2');
    await settled();
    drawn[name.source] = (await renders.since()).length;
  }
  expect(Object.entries(drawn).filter(([, count]) => count > MOST_PER_KEY)).toEqual([]);
});

/** The field with its label, hint and input, and the line that summarizes its group. */
const MOST_PER_KEY = 12;

/** Advances the page's clock by a minute, and waits for the response to each refresh. */
async function passMinute(page: Page, settled: () => Promise<void>): Promise<void> {
  for (let second = 0; second < QUIET_SECONDS; second += 5) {
    await page.clock.runFor(5_000);
    await settled();
  }
}
