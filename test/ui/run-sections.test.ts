import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { plantToolCalls } from '#test/support/given.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { marker, routineWith } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';

const test = dashboardTest()
  .extend('key', { scope: 'file' }, ({ person }) => person.key())
  .extend('tools', { scope: 'file' }, async ({ uiPort: _port }, { onCleanup }) => {
    const server = await startHostileTools();
    onCleanup(() => server.stop());
    return server;
  })
  /** Returns the page of a run, opened by its person. */
  .extend('at', ({ person }) => (runId: string) => ({
    as: person,
    path: `/p/${person.projectId}/runs/${runId}`,
  }));

test.afterEach(({ service, tools }) => {
  service.gateway.control.reset();
  tools.control.reset();
});

const LOOKUP = { name: 'lookup', arguments: { query: 'site:example.com changed' } };

test('a run of a hundred steps is followed until the reader moves, and then stays where it is read', async ({
  service,
  key,
  tools,
  visit,
  at,
}) => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['lookup'], {
    connection: { url: tools.url('honest') },
    limits: { maxCallsPerRun: 100 },
    routine: { name: 'Long audit', instructions: mark, limits: { maxSteps: 60 } },
  });
  service.gateway.control.script({
    marker: mark,
    times: 33,
    behaviour: { kind: 'tool-calls', calls: [LOOKUP, LOOKUP], text: null },
  });
  service.gateway.control.script({
    marker: mark,
    behaviour: { kind: 'text', text: 'Nothing is new.' },
  });
  let rest = Promise.withResolvers<void>();
  let holdFrom = 40;
  tools.control.answer = () => {
    if (tools.control.calls.length >= holdFrom) tools.control.held = rest.promise;
    return 'The same as last week.';
  };
  /** Lets the run make this number of further calls. */
  const goOn = (calls: number) => {
    const before = rest;
    rest = Promise.withResolvers();
    holdFrom += calls;
    tools.control.held = undefined;
    before.resolve();
  };
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await expect.poll(() => tools.control.calls.length).toBeGreaterThan(40);

  const { path, as } = at(run.id);
  const { page, expectClean } = await visit(path, { as });
  // Count only the buttons of the rows, and not those of opened steps.
  const rows = page.getByRole('list', { name: 'Steps' }).locator('> li > button');
  await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(61);
  const button = page.getByRole('button', { name: 'Follow the newest step' });
  // The view has followed the newest step.
  await expect.poll(() => isInView(page, rows.last())).toBe(true);
  expect(await isInView(page, rows.first())).toBe(false);

  // The reader scrolls up, so the view must not move, however much appears below.
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, -600);
  await button.waitFor();
  const read = rows.nth(40);
  const place = await settledPlace(page, read);
  const count = await rows.count();
  goOn(10);
  await expect.poll(() => rows.count()).toBeGreaterThan(count + 8);
  expect(await settledPlace(page, read)).toBe(place);
  expect(await isInView(page, rows.last())).toBe(false);

  await button.click();
  await expect.poll(() => isInView(page, rows.last())).toBe(true);
  await button.waitFor({ state: 'detached' });

  // Opening a step also stops the following. A link back appears once the newest step is out of sight.
  const opened = rows.nth((await rows.count()) - 2);
  await opened.click();
  const openedAt = await settledPlace(page, opened);
  const openedOf = await rows.count();
  goOn(10);
  await expect.poll(() => rows.count()).toBeGreaterThan(openedOf + 8);
  expect(await settledPlace(page, opened)).toBe(openedAt);
  await button.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => isInView(page, rows.last())).toBe(true);

  // A reader who follows to the end sees the outcome.
  goOn(100);
  await page.getByText('Succeeded').first().waitFor();
  await expect.poll(() => page.evaluate<number>('scrollY')).toBe(0);
  await expect.poll(() => rows.count()).toBe(100);
  await expectClean();
  await photograph(visit, 'run', [{ ...at(run.id), name: 'hundred-steps' }]);
});

type Row = ReturnType<Page['getByRole']>;

async function isInView(page: Page, row: Row): Promise<boolean> {
  const box = await row.boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

/** Measures the place of a row in the window after scrolling has ended: over ten frames, however long these take. */
async function settledPlace(page: Page, row: Row): Promise<number> {
  await page.evaluate(AT_REST);
  return (await row.boundingBox())?.y ?? Number.NaN;
}

const AT_REST = `new Promise((resolve) => {
  let still = 0;
  let last = Number.NaN;
  const look = () => {
    still = scrollY === last ? still + 1 : 0;
    last = scrollY;
    if (still === 10) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;

test('the texts that a long run leaves out are read when their step is opened', async ({
  service,
  key,
  person,
  visit,
}) => {
  const run = await runOnce(key, await createRoutine(key, { name: 'A long one' }));
  const { database } = service.deps;
  await plantToolCalls(database, run.id, { count: 260, textLength: 16_000 });
  const { page } = await visit(`/p/${person.projectId}/runs/${run.id}`, { as: person });
  const last = page.getByRole('list', { name: 'Steps' }).getByRole('button', { name: /^read/ }).last();
  await last.click();
  await expect.poll(() => page.getByText(/^x{16000}$/).count()).toBe(1);
});
