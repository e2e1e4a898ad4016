import { expect } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { marker, routineWith, type Json } from '#test/core/integrations/tools/support.ts';
import { dashboardTest, startDashboard } from './support/fixtures.ts';

const REPORT = `## What changed on example.com

The title of **/pricing** is new, and two pages are gone:

1. \`/blog/launch\` leads to a 404
2. \`/team\` redirects to \`/about\`

| Page | LCP | Change |
|---|---|---|
| / | 1.8 s | −0.2 s |
| /pricing | 3.1 s | +0.9 s |

Next: look at the hero image of \`/pricing\`.`;

const test = dashboardTest()
  .extend('key', { scope: 'file' }, ({ person }) => person.key())
  .extend('tools', { scope: 'file' }, async ({ uiPort: _port }, { onCleanup }) => {
    const server = await startHostileTools();
    onCleanup(() => server.stop());
    return server;
  });

test.afterEach(({ service, tools }) => {
  service.gateway.control.reset();
  tools.control.reset();
});

interface Call {
  readonly name: string;
  readonly arguments: Json;
}

/** Makes the model of a marked run ask for these calls, in one turn after the other. */
function scriptTurns(service: Service, mark: string, ...turns: Call[][]): void {
  for (const calls of turns) {
    service.gateway.control.script({
      marker: mark,
      behaviour: { kind: 'tool-calls', calls, text: null },
    });
  }
}

function says(service: Service, mark: string, text: string, latencyMs = 0): void {
  service.gateway.control.script({ marker: mark, latencyMs, behaviour: { kind: 'text', text } });
}

/** Makes a routine with all parts that the page of a run can show. */
async function fullRoutine(
  { key, toolsUrl }: { key: ApiClient; toolsUrl: string },
  mark: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const { routineId } = await routineWith(key, ['lookup', 'send_message'], {
    connection: { url: toolsUrl },
    routine: {
      name: 'Weekly site audit',
      instructions: `${mark}: audit {{site}} and report what changed since last week.`,
      variables: { site: 'example.com' },
      skills: ['seo-audit'],
      ...fields,
    },
  });
  return routineId;
}

const LOOKUP = { name: 'lookup', arguments: { query: 'site:example.com changed' } };
const MESSAGE = { name: 'send_message', arguments: { to: 'ada', text: 'Two pages are gone.' } };

test('a live run is followed step by step, also where the stream is cut in the middle', async ({
  service,
  person,
  key,
  tools,
  visit,
}) => {
  const mark = marker();
  const routineId = await fullRoutine({ key, toolsUrl: tools.url('honest') }, mark);
  scriptTurns(service, mark, [LOOKUP], [MESSAGE]);
  says(service, mark, REPORT);
  const first = held();
  tools.control.held = first.promise;
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const proxy = await startTcpProxy(new URL(service.url).host);
  const dashboard = await startDashboard(service, await freePort(), {
    API_URL: `http://${proxy.address}`,
  });
  const { page, complaints } = await visit(`${dashboard.url}/p/${person.projectId}/runs/${run.id}`, { as: person });
  const rows = page.getByRole('list', { name: 'Steps' }).getByRole('button');
  await page.getByText('Live', { exact: true }).waitFor();
  await expect.poll(() => tools.control.calls.length).toBe(1);
  await expect.poll(() => rows.count()).toBeGreaterThan(0);
  // Only the stream can tell the page that the second turn's call has ended, because nothing else reads an open run.
  const second = held();
  tools.control.held = second.promise;
  first.release();
  // The row of the call under way has its name and a running clock.
  const underWay = rows.filter({ hasText: 'send_message' });
  await underWay.getByText('Under way').waitFor();
  await underWay.getByText(/^[1-9]\d* s$/).waitFor();
  expect(await rows.count()).toBe(4);
  await proxy.cut();
  await page.getByText('Connection lost; trying again').waitFor();
  second.release();
  await runEnded(key, run.id);
  await proxy.mend();
  await page.getByText('Succeeded').first().waitFor();
  await page.getByRole('heading', { name: 'What changed on example.com' }).waitFor();
  await expect.poll(() => rows.count()).toBe(5);
  expect(complaints).toEqual([]);
  await dashboard.close();
  await proxy.close();
});

test('the text of a model is read while it is written, and gives way to the result', async ({
  service,
  person,
  key,
  visit,
}) => {
  const mark = marker();
  const text = `# Pages this week\n\n${Array.from({ length: 60 }, (_, n) => `- Page ${n} answers in less than a second.\n`).join('')}`;
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text }, form: { pauseMs: 150 } });
  const routineId = await createRoutine(key, { name: 'Site check', instructions: mark });
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const { page, expectClean } = await visit(`/p/${person.projectId}/runs/${run.id}`, { as: person });
  const soFar = page.getByRole('region', { name: 'Text so far' });
  await soFar.getByRole('heading', { name: 'Pages this week' }).waitFor();
  await page.getByText('Writing · step 1').waitFor();
  await soFar.getByText('Page 12 answers').waitFor();
  // The end of the run remains in view.
  await expect
    .poll(() => soFar.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight))
    .toBeLessThan(60);
  await expectClean();
  await page.getByRole('region', { name: 'Result' }).getByText('Page 59 answers').waitFor();
  expect(await soFar.count()).toBe(0);
});

test('a run is cancelled, and run again, from its page', async ({ service, person, key, visit }) => {
  const mark = marker();
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'hang' } });
  const routineId = await createRoutine(key, { name: 'Daily digest', instructions: mark });
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  const { page, expectClean } = await visit(`/p/${person.projectId}/runs/${run.id}`, {
    as: person,
  });
  await page.getByText('Asking the model').waitFor();
  await page.getByRole('button', { name: 'Cancel run' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click();
  await page.getByText('Someone cancelled the run.').waitFor();
  expect(await runEnded(key, run.id)).toMatchObject({ state: 'cancelled' });
  const step = page.getByRole('list', { name: 'Steps' }).getByRole('button');
  await expect.poll(() => step.innerText()).toMatch(/Model\s+Cancelled/);

  await page.getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(run.id));
  await page.getByRole('link', { name: 'an earlier run' }).waitFor();
  await page.getByText('Succeeded').first().waitFor();
  await expectClean();
});

test('a delivery is sent again, and its second attempt is seen as it comes', async ({ person, key, visit }) => {
  const receiver = await startReceiver((_request, response) => response.writeHead(204).end());
  const routineId = await createRoutine(key, { webhookUrl: `${receiver.origin}/hook` });
  const run = await runOnce(key, routineId);
  const { page } = await visit(`/p/${person.projectId}/runs/${run.id}`, { as: person });
  const attempts = page.getByRole('list', { name: 'Attempts' }).getByRole('button');
  await expect.poll(() => attempts.count()).toBe(1);
  await page.getByText('Delivered').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await expect.poll(() => attempts.count()).toBe(2);
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toHaveLength(2);
});

test('a pinned run says so, and its workflow is a link away', async ({ person, key, visit }) => {
  const run = await runOnce(key, await createRoutine(key));
  const { page } = await visit(`/p/${person.projectId}/runs/${run.id}`, { as: person });
  await page.getByRole('button', { name: 'Details' }).click();
  const link = page.getByRole('link', { name: 'The workflow in Temporal' });
  expect(await link.getAttribute('href')).toBe(`https://temporal.example.com/namespaces/default/workflows/${run.id}`);
  await page.getByRole('button', { name: /^Pin/ }).click();
  await page.getByRole('button', { name: /^Unpin/, pressed: true }).waitFor();
  await expect.poll(async () => (await key.get(`/v1/runs/${run.id}`)).data.pinned).toBe(true);
});

function held(): { promise: Promise<void>; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, release: () => resolve() };
}
