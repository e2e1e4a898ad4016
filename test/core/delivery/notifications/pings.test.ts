import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { failedRun, mailingTest, makeDue, sendNow } from './fixture.ts';

const test = mailingTest();

test('a monitor gets a GET after each run that succeeded, and none after one that failed', async ({
  service,
  person,
}) => {
  const monitor = await startReceiver((_, response) => response.end('OK'));
  const key = await (await person()).key();
  const id = await createRoutine(key, {
    notifications: { successPingUrl: `${monitor.origin}/ping/4f1c` },
  });
  await failedRun(service, key, id);
  const run = await runOnce(key, id);
  await runOnce(key, id);
  await sendNow(service);
  expect(monitor.received.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /ping/4f1c', 'GET /ping/4f1c']);
  expect((await key.get(`/v1/runs/${run.id}`)).data.notifications).toMatchObject([
    { kind: 'success_ping', to: new URL(monitor.origin).host, state: 'sent', attempts: 1 },
  ]);
});

test('a redirect is not followed; a monitor that fails is tried three times and shown', async ({ service, person }) => {
  const elsewhere = await startReceiver((_, response) => response.end('OK'));
  const monitor = await startReceiver((_, response) => {
    response.writeHead(302, { Location: elsewhere.origin }).end();
  });
  const key = await (await person()).key();
  const id = await createRoutine(key, { notifications: { successPingUrl: monitor.origin } });
  const run = await runOnce(key, id);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await makeDue(service);
    await sendNow(service);
  }
  expect([monitor.received.length, elsewhere.received.length]).toEqual([3, 0]);
  expect((await key.get(`/v1/runs/${run.id}`)).data.notifications).toMatchObject([
    { state: 'failed', attempts: 3, error: 'the monitor responded with 302' },
  ]);
});

test('a private address is refused when it is saved, and when a name leads to one', async ({ service, person }) => {
  const key = await (await person()).key();
  const outbound = createOutboundClient({
    allowPrivateNetwork: false,
    lookup: () => Promise.resolve(['10.0.0.7']),
  });
  const id = await createRoutine(key, {
    notifications: { successPingUrl: 'https://monitor.example.com/ping' },
  });
  const run = await runOnce(key, id);
  await sendNow({ deps: { ...service.deps, outbound } });
  await outbound.close();
  expect((await key.get(`/v1/runs/${run.id}`)).data.notifications).toMatchObject([
    {
      kind: 'success_ping',
      state: 'pending',
      attempts: 1,
      error: expect.stringMatching(/address/),
    },
  ]);
  for (const url of ['ftp://example.com/', 'not a url', 'https://user:pass@example.com/']) {
    const { status, body } = await key.post('/v1/routines', routineBody({ notifications: { successPingUrl: url } }));
    expect([url, status]).toEqual([url, 400]);
    expect(body.error.message).toContain('notifications.successPingUrl');
  }
});

test('monitors that hang hold up no mail and no other organization', async ({ service, mailbox, person }) => {
  const hung: ServerResponse[] = [];
  const hanging = await startReceiver((_, response) => hung.push(response));
  const [loud, quiet] = [await person(), await person()];
  const key = await loud.key();
  const id = await createRoutine(key, { notifications: { successPingUrl: hanging.origin } });
  await runOnce(key, id);
  const quietKey = await quiet.key();
  const watched = await createRoutine(quietKey, {
    notifications: { mail: { on: ['failed'], to: 'owners' } },
  });
  await failedRun(service, quietKey, watched);
  const sending = sendNow(service);
  await expect
    .poll(async () => (await mailbox.mailsTo(quiet.email)).map(({ subject }) => subject))
    .toContain('Failed: Test routine');
  await expect.poll(() => hanging.received).toHaveLength(1);
  for (const response of hung) response.destroy();
  await sending;
});
