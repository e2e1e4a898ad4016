import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { paymentEnvironment } from '#dev/fakes/payments/local.ts';
import { freePort } from '#dev/stack/ports.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { makeDue, startModelFixture } from '#test/core/models/connections/fixture.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { ApiClient } from '#test/support/client.ts';
import { startMailbox } from '#test/support/mail.ts';
import { runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { hearEvents, startProcessor } from '#test/core/accounts/billing/support.ts';
import { duration } from '../../ui/src/format/times.ts';
import { dashboardTest } from './support/fixtures.ts';
import { sequence } from './support/photograph.ts';
import { signInByForm, signUpByForm } from './support/steps/accounts.ts';
import { choosePlan, letRenewalFail, pay } from './support/steps/billing.ts';
import { activateRoutine, seeTestResult, testRoutine, writeRoutine } from './support/steps/composer.ts';
import { askForCode, enterCodeThere, letIntervalPass, openAccountDialog } from './support/steps/model-accounts.ts';
import { makeKey, storeSecret } from './support/steps/secrets.ts';
import {
  askToConfirm,
  confirmWithLimit,
  connectServer,
  findTools,
  offerTools,
  openServerDialog,
} from './support/steps/tools.ts';
import type { Watched } from './support/watched.ts';
import { changeRoutines } from '#test/support/given.ts';

const uiPort = await freePort();
const [mailbox, processor, toolServer] = await Promise.all([startMailbox(), startProcessor(), startHostileTools()]);
const fixture = await startModelFixture({
  worker: true,
  env: {
    ...mailbox.env,
    ...paymentEnvironment(processor.url),
    UI_ORIGIN: `http://localhost:${uiPort}`,
    COMMERCIAL_ACQUISITION_ENABLED: 'true',
    CHECKOUT_ENABLED: 'true',
  },
});
const { service } = fixture;
hearEvents(processor, service);
offerTools(toolServer);
const test = dashboardTest()
  .override('uiPort', () => uiPort)
  .override('service', () => service);
afterAll(async () => {
  await fixture.close();
  await Promise.all([mailbox.stop(), processor.stop(), toolServer.stop()]);
});

const ROUTINE = 'Weekly rankings';
const INSTRUCTIONS = 'Look up where {{site}} ranks, and report what has changed.';

const REPORT = `## Two pages moved

| Page | Rank | Change |
|---|---|---|
| /pricing | 4 | up 3 |
| /blog/launch | 18 | down 6 |

Next: bring the title of \`/blog/launch\` up to date.`;

test('a person uses the whole service, from the sign-up to a late payment', async ({ visit }) => {
  const watched = await visit('/sign-up');
  const { page, settled, expectClean } = watched;
  const open = (place: string) =>
    page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: place, exact: true }).click();

  // Sign up.
  await expectClean();
  const email = await signUpByForm(page, mailbox);
  await signInByForm(page, email);
  await page.getByRole('heading', { name: 'Begin with a template' }).waitFor();
  await settled();
  await expectClean();

  // Compose, test and activate.
  const receiver = await startReceiver((_request, response) => response.writeHead(204).end());
  await page.getByRole('link', { name: 'Write your own' }).click();
  await page.getByRole('button', { name: 'Write it yourself' }).click();
  await writeRoutine(page, { name: ROUTINE, instructions: INSTRUCTIONS, site: 'example.com' });
  await page.getByRole('button', { name: /^Advanced/ }).click();
  await page.getByRole('button', { name: /^Who is told/ }).click();
  await page.getByRole('textbox', { name: 'Webhook' }).fill(`${receiver.origin}/hooks/rankings`);
  await testRoutine(page);
  const webhookSecret = await storeSecret(page, 'webhook secret');
  await seeTestResult(page, /example\.com/);
  await expectClean();
  await activateRoutine(page);
  const routineId = /rtn_[0-9a-z]+/.exec(page.url())![0];
  await settled();
  await expectClean();

  // The occurrence is due, and a tick claims it.
  await open('Runs');
  await page.getByRole('row', { name: /Weekly rankings/ }).waitFor();
  await makeDueNow(service, routineId);
  const cron = { 'X-Scheduler-Secret': service.config.SCHEDULER_SECRET ?? '' };
  const ticked = await service.anonymous.with(cron).post('/internal/scheduler/tick');
  expect(ticked.status).toBe(202);
  const bySchedule = page.getByRole('row', { name: /Weekly rankings.*Schedule/ });
  await bySchedule.waitFor();
  await settled();
  await expectClean();

  // Its delivery is signed with the secret that was shown once.
  await bySchedule.getByRole('link', { name: ROUTINE }).click();
  await page.getByText('Succeeded').first().waitFor();
  await page.getByText('Delivered').waitFor();
  await expect.poll(() => receiver.received.length).toBe(2);
  const { body, headers } = receiver.received.find(({ body: sent }) => /"schedule"/.test(sent))!;
  const event = new Webhook(webhookSecret).verify(body, headers as Record<string, string>);
  expect(event).toMatchObject({ type: 'run.succeeded', data: { trigger: 'schedule' } });
  await settled();
  await expectClean();

  // An API key, which is shown once.
  await open('API keys');
  await page.getByRole('button', { name: 'New API key' }).first().click();
  await makeKey(page, 'Nightly import');
  await expectClean();
  const secret = await storeSecret(page, 'API key');
  await page.reload();
  await page.getByRole('row', { name: /Nightly import/ }).waitFor();
  expect(await page.content()).not.toContain(secret);
  const script = new ApiClient(service.url, { Authorization: `Bearer ${secret}` });
  expect((await script.get('/v1/runs')).data).toHaveLength(2);
  const refused = await script.post(`/v1/routines/${routineId}/run`);
  expect([refused.status, refused.body.error.code]).toEqual([402, 'plan_write_required']);

  await confirmTool(watched, () => open('Connections'));
  await followRun(watched, () => open('Routines'));

  // A model account by device code.
  const signIn = sequence('device-code');
  await open('Model accounts');
  await openAccountDialog(page, 'provider-a');
  await settled();
  await signIn(watched, 'terms');
  fixture.authorizationServer.control.account = 'ada-lovelace';
  const started = await askForCode(page);
  await signIn(watched, 'code');
  expect(await enterCodeThere(page)).toBe(started.userCode);
  await makeDue(fixture, started.attemptId);
  await letIntervalPass(page, started);
  await page.getByText('The account is connected.').waitFor();
  await signIn(watched, 'connected');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row').filter({ hasText: 'Ready' }).waitFor();
  await settled();
  await signIn(watched, 'listed');

  // An upgrade and a failed renewal.
  const upgrade = sequence('upgrade');
  await open('Billing');
  await page.getByRole('button', { name: 'Choose Pro' }).waitFor();
  await settled();
  await upgrade(watched, 'plans');
  await choosePlan(page, 'Pro');
  await upgrade(watched, 'hosted-page', { foreign: true });
  await pay(page, 'Pro');
  await settled();
  await upgrade(watched, 'paid');
  await letRenewalFail(page);
  await page.getByText('The last payment failed.').waitFor();
  await page.getByText('The Pro plan lasts until').waitFor();
  await settled();
  await upgrade(watched, 'past-due');
  // The plan is still valid, so the key may write, which needs a paid plan.
  expect((await runOnce(script, routineId)).state).toBe('succeeded');
});

/** Connects a tool server, and confirms one of its tools for the routine. */
async function confirmTool(watched: Watched, open: () => Promise<void>): Promise<void> {
  const { page, settled } = watched;
  const take = sequence('tool-confirmation');
  await open();
  const dialog = await openServerDialog(page, 'Rank tools');
  await dialog.getByLabel('Address').fill(toolServer.url('honest'));
  await take(watched, 'server');
  await connectServer(page, dialog, toolServer.url('honest'));
  await findTools(page, ROUTINE);
  await settled();
  await take(watched, 'found');
  const question = await askToConfirm(page, 'read_rankings');
  await settled();
  await take(watched, 'question');
  await confirmWithLimit(page, question, 3);
  await settled();
  await take(watched, 'confirmed');
}

const CALL = { name: 'read_rankings', arguments: { site: 'example.com' } };

/** Follows a run from the queue to its end. The plan allows one run at a time, and another run is under way. */
async function followRun(watched: Watched, open: () => Promise<void>): Promise<void> {
  const { page, settled } = watched;
  const take = sequence('live-run');
  const says = (...turns: ('calls' | 'reports')[]) => {
    for (const turn of turns) {
      service.gateway.control.script({
        marker: 'report what has changed',
        behaviour: turn === 'calls' ? { kind: 'tool-calls', calls: [CALL] } : { kind: 'text', text: REPORT },
      });
    }
  };
  toolServer.control.answer = () => 'rank 4: /pricing\nrank 18: /blog/launch';
  says('calls', 'reports', 'calls', 'calls', 'reports');
  const first = hold();
  await open();
  await page.getByRole('link', { name: ROUTINE }).click();
  await page.waitForURL(/\/routines\/rtn_[^/]+$/);
  // The routine has a new tool, so it is a draft until another run proves it.
  await page.getByText('Draft').first().waitFor();
  const routine = page.url();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('Step 2').waitFor();
  await page.goto(routine);
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText(/^Waiting: /).waitFor();
  await take(watched, 'queued');
  await first.taken();
  const second = hold();
  first.release();
  // Count ended steps only, because a read during the call also shows the call under way.
  const steps = page.getByRole('list', { name: 'Steps' }).getByRole('button').filter({ hasNotText: 'Under way' });
  await expect.poll(() => steps.count()).toBe(1);
  // The page shows the whole wait, and not only the wait until the page was opened.
  const waited = duration((await readRun(page)).queuedSeconds * 1_000);
  const facts = page.getByRole('region', { name: 'Facts' });
  await facts.getByRole('button', { name: 'Details' }).click();
  await facts.getByText(waited, { exact: true }).waitFor();
  await take(watched, 'first-steps');
  await second.taken();
  const third = hold();
  second.release();
  await expect.poll(() => steps.count()).toBe(3);
  await take(watched, 'more-steps');
  third.release();
  await page.getByRole('heading', { name: 'Two pages moved' }).waitFor();
  await page.getByText('Delivered').waitFor();
  await settled();
  await take(watched, 'ended');
  await page.goto(routine);
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByText('Active, done').waitFor({ state: 'attached' });
}

/** Reads the run whose page is open, from the API. */
async function readRun(page: Page): Promise<{ queuedSeconds: number }> {
  const [projectId, runId] = ['prj', 'run'].map((kind) => new RegExp(`${kind}_[0-9a-z]+`).exec(page.url())![0]);
  const response = await page.request.get(`/v1/runs/${runId}`, {
    headers: { 'X-Project-Id': projectId! },
  });
  return (await response.json()).data;
}

/** Holds all further calls until they are released. */
function hold() {
  const { calls } = toolServer.control;
  const before = calls.length;
  const { promise, resolve } = Promise.withResolvers<void>();
  toolServer.control.held = promise;
  return {
    release: () => resolve(),
    /** Waits until a call has arrived, because an earlier hold would otherwise delay that call. */
    taken: () => expect.poll(() => calls.length).toBeGreaterThan(before),
  };
}

/** Makes the next occurrence of the routine due now. */
async function makeDueNow({ deps }: Service, routineId: string): Promise<void> {
  await changeRoutines(deps.database, routineId, { nextRunAt: AT_ONCE });
}
