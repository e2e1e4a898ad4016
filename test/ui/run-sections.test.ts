import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { EVERYTHING, sendNow } from '#test/core/delivery/notifications/fixture.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { startMailbox } from '#test/support/mail.ts';
import { newEmail, PASSWORD, postAuth, signIn } from '#test/support/people.ts';
import { plantToolCalls } from '#test/support/given.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { marker, routineWith, toolSteps } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './support/fixtures.ts';
import { photograph } from './support/photograph.ts';

const mailbox = await startMailbox();
const CONFIRMATION = /(https?:\/\/\S+verify-email\?\S+)/;

const test = dashboardTest({ env: mailbox.env })
  .override('person', async ({ service }) => {
    const email = newEmail();
    await postAuth(service, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Ada' });
    await fetch(await mailbox.find(email, CONFIRMATION), { redirect: 'manual' });
    return signIn(service, email);
  })
  .extend('key', { scope: 'file' }, ({ person }) => person.key())
  .extend('tools', { scope: 'file' }, async ({ uiPort: _port }, { onCleanup }) => {
    const server = await startHostileTools();
    onCleanup(() => server.stop());
    return server;
  })
  /** Names the page of a run, as its person opens it. */
  .extend('at', ({ person }) => (runId: string) => ({
    as: person,
    path: `/p/${person.projectId}/runs/${runId}`,
  }));

test.afterEach(({ service, tools }) => {
  service.gateway.control.reset();
  tools.control.reset();
});

const LOOKUP = { name: 'lookup', arguments: { query: 'site:example.com changed' } };

test('a run that failed beside the last good one, its mails, a cancelled run, and one of a backfill', async ({
  service,
  key,
  visit,
  at,
  person,
}) => {
  const { control } = service.gateway;
  const mark = marker();
  const monitor = await startReceiver((_request, response) => response.writeHead(204).end());
  const id = await createRoutine(key, {
    name: 'Sources of the week',
    instructions: `${mark}: name the sources on {{topic}}.`,
    variables: { topic: 'tides' },
    checks: [{ type: 'result_not_empty' }, { type: 'distinct_sources', atLeast: 2 }],
    notifications: { mail: EVERYTHING, successPingUrl: `${monitor.origin}/ping` },
  });
  const say = (text: string) => control.script({ marker: mark, behaviour: { kind: 'text', text } });
  say('See https://a.example/1 and https://b.example/2.');
  const good = await runOnce(key, id);
  say('I only know https://a.example/1 and what it says about the moon.');
  const failed = await runOnce(key, id, { variables: { topic: 'the moon' } });
  await sendNow(service);
  say('See https://a.example/1 and https://b.example/2.');
  const repaired = await runOnce(key, id);

  control.script({ marker: mark, behaviour: { kind: 'hang' } });
  const { data: hanging } = await key.post(`/v1/routines/${id}/run`);
  await expect.poll(async () => (await key.get(`/v1/runs/${hanging.id}`)).data.steps.length).toBe(1);
  await key.post(`/v1/runs/${hanging.id}/cancel`);
  const cancelled = await runEnded(key, hanging.id);

  const daily = await activeRoutine(key, { name: 'Daily numbers' });
  const day = 86_400_000;
  const { data: backfill } = await key.post(`/v1/routines/${daily}/backfill`, {
    from: new Date(Date.now() - 3 * day).toISOString(),
    to: new Date(Date.now() - day).toISOString(),
    acceptForecast: true,
  });
  for (const run of backfill.runs) await runEnded(key, run.id);

  await photograph(visit, 'run', [
    {
      ...at(failed.id),
      name: 'check-failed',
      act: async (page) => {
        const aside = page.getByRole('complementary', { name: 'About this run' });
        await aside.getByText('Distinct sources, failed').waitFor();
        const against = aside.getByRole('region', { name: 'Against the last good run' });
        await against.getByText('topic: the moon').waitFor();
        expect(await against.getByRole('link').getAttribute('href')).toContain(good.id);
        await page.getByText('Mail that it failed').waitFor();
      },
    },
    {
      ...at(repaired.id),
      name: 'repaired',
      act: (page) => page.getByText('Ping to the monitor').waitFor(),
    },
    {
      ...at(cancelled.id),
      name: 'cancelled',
      act: async (page) => {
        await page.getByText('Someone cancelled it.').waitFor();
        await page.getByRole('button', { name: 'Model Cancelled' }).click();
        await page.getByText('The run was cancelled.').waitFor();
      },
    },
    {
      ...at(backfill.runs[0].id),
      name: 'of-backfill',
      act: (page) => page.getByRole('link', { name: 'Backfill' }).waitFor(),
    },
    {
      as: person,
      name: 'backfill-list',
      path: `/p/${person.projectId}/runs?backfillId=${backfill.id}`,
      act: async (page) => {
        await page.getByText('Of one backfill').waitFor();
        await expect.poll(() => page.getByRole('row', { name: /Daily numbers/ }).count()).toBe(backfill.runs.length);
      },
    },
  ]);
});

test('a result that made room in the context window says from which step on, and that step says how many did', async ({
  service,
  key,
  tools,
  visit,
  at,
}) => {
  const mark = marker();
  const { routineId, connectionId } = await routineWith(key, ['lookup'], {
    connection: { url: tools.url('honest'), name: 'Library' },
    routine: {
      name: 'Reader of long pages',
      instructions: mark,
      model: { provider: 'gateway', connectionId: null, modelId: 'fixture/unpriced' },
    },
    limits: { maxCallsPerRun: 20 },
  });
  tools.control.answer = () => 'word '.repeat(1_600);
  service.gateway.control.script({
    marker: mark,
    times: 6,
    behaviour: { kind: 'tool-calls', calls: [LOOKUP], text: null },
  });
  const run = await runOnce(key, routineId);
  const from = toolSteps(run).map(({ tool }) => tool.omittedFromStep as number | null);
  const [first = null] = from;
  if (first === null) throw new Error('Nothing had to make room.');
  const others = from.filter((each) => each === first).length;
  const stepOf = async (page: Page, index: number) => {
    const rows = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    const row = rows.filter({ has: page.getByRole('button') }).nth(index);
    await row.getByRole('button').first().click();
    return row;
  };
  await photograph(visit, 'run', [
    {
      ...at(run.id),
      name: 'left-out',
      act: async (page) => {
        const open = (index: number) => stepOf(page, index);
        const call = await open(1);
        await call.getByRole('link', { name: 'Library' }).waitFor();
        await call.getByText(`From step ${first + 1} on it is no longer sent`).waitFor();
        const step = await open(first);
        await step.getByText(new RegExp(`${others} earlier results? (is|are) left out`)).waitFor();
        const newest = await open(11);
        await newest.getByText('Result', { exact: true }).waitFor();
        expect(await newest.getByText('no longer sent').count()).toBe(0);
      },
    },
    {
      ...at(run.id),
      name: 'connection-deleted',
      before: () => key.delete(`/v1/connections/${connectionId}`),
      act: async (page) => {
        const call = await stepOf(page, 1);
        await call.getByText('Library, deleted since').waitFor();
        expect(await call.getByRole('link').count()).toBe(0);
      },
    },
  ]);
});

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
  /** Lets the run go on for so many calls. */
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
  // Not the buttons of what is open.
  const rows = page.getByRole('list', { name: 'Steps' }).locator('> li > button');
  await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(61);
  const button = page.getByRole('button', { name: 'Follow the newest step' });
  // It has gone along to the newest step.
  await expect.poll(() => isInView(page, rows.last())).toBe(true);
  expect(await isInView(page, rows.first())).toBe(false);

  // The reader scrolls up: what is read stays, however much comes below.
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

  // Opening a step is reading too, and the way back is there once the newest step is out of sight.
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

  // A reader who followed to the end is shown the outcome.
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

/**
 * Measures where a row stands in the window, once scrolling has come to rest: over ten frames, however long these take.
 */
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
