import { createServer } from 'node:http';
import { webhooks, type WebhookEvent } from 'routine-automation-sdk';
import { expect, onTestFinished } from 'vitest';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { environmentOf, terminal } from './terminal.ts';

const test = serviceTest({ worker: true });

interface Received {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Starts a receiver on this machine that keeps the received events. */
async function receiver(status = 204) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += String(chunk)));
    request.on('end', () => {
      received.push({ body, headers: request.headers });
      response.writeHead(status).end();
    });
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => closeAtOnce(server));
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

test('listen forwards what ends from now on, signed, as the webhook of the routine is told', async ({ key }) => {
  const real = await receiver();
  const local = await receiver();
  const good = await createRoutine(key, { webhookUrl: real.url });
  const bad = await createRoutine(key, { webhookUrl: real.url, instructions: 'Write one line.\nFAIL refused' });
  await runOnce(key, good);
  const user = await terminal();
  let started = false;
  const { code, stdout, stderr } = await user.run(['listen', '--forward-to', local.url], {
    env: environmentOf(key),
    interruptAt: 'never',
    whilePaused: async () => {
      if (local.received.length >= 2 && real.received.length >= 3)
        throw Object.assign(new Error(), { name: 'Interrupted' });
      if (started) return new Promise((resolve) => setTimeout(resolve, 50));
      started = true;
      return Promise.all([good, bad].map((id) => key.post(`/v1/routines/${id}/run`)));
    },
  });
  expect(code).toBe(130);
  const [, secret = ''] = /Signing secret: (whsec_\S+)/.exec(stderr) ?? [];
  const events = local.received.map(({ body, headers }) => webhooks.verify(body, headers, secret));
  expect(events.map(({ type }) => type).toSorted()).toEqual(['run.failed', 'run.succeeded']);
  const told = new Map(
    real.received.map(({ body }) => {
      const event: WebhookEvent = JSON.parse(body);
      return ['id' in event.data ? event.data.id : '', event];
    }),
  );
  for (const event of events) expect(event).toEqual(told.get('id' in event.data ? event.data.id : ''));
  expect(stdout).toContain('"response":"204"');
});

test.for(['whsec_', 'not base64!', 'whsec_ä'])('listen refuses the secret "%s" at once', async (secret, { key }) => {
  const user = await terminal();
  const env = { ...environmentOf(key), RAS_WEBHOOK_SECRET: secret };
  const listened = await user.run(['listen', '--forward-to', 'http://127.0.0.1:1/hook'], {
    env,
    interruptAt: 'Forwarding',
  });
  expect(listened).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is no signing secret') });
});

test('a test event is signed and shows what the receiver said; it is no delivery of a run', async ({ key }) => {
  const taking = await receiver();
  const { data: routine } = await key.post('/v1/routines', {
    name: 'Hooked',
    instructions: 'Write one line.',
    schedule: '0 7 * * *',
    model: { provider: 'gateway', modelId: 'fixture/writer-small' },
    webhookUrl: taking.url,
  });
  const user = await terminal();
  const env = environmentOf(key);
  const sent = await user.run(['routines', 'test-webhook', routine.id], { env });
  expect(sent).toMatchObject({ code: 0, json: { status: 204, error: null } });
  const [first] = taking.received;
  expect(webhooks.verify(first!.body, first!.headers, routine.webhookSecret)).toMatchObject({
    type: 'webhook.test',
    data: { routineId: routine.id, name: 'Hooked' },
  });
  const gone = await receiver(410);
  await key.patch(`/v1/routines/${routine.id}`, { webhookUrl: gone.url });
  const refused = await user.run(['routines', 'test-webhook', routine.id], { env });
  expect(refused).toMatchObject({ code: 1, json: { status: 410 } });
  expect((await key.get(`/v1/routines/${routine.id}`)).data.webhookFailedAt).toBeNull();
  const bare = await createRoutine(key);
  expect((await key.post(`/v1/routines/${bare}/webhook-test`)).body.error.code).toBe('webhook_not_configured');
  const many = await Promise.all(Array.from({ length: 9 }, () => key.post(`/v1/routines/${routine.id}/webhook-test`)));
  expect(many.map(({ status }) => status)).toContain(429);
});

test('a secret that is rotated in the terminal signs what follows', async ({ key }) => {
  const taking = await receiver();
  const id = await createRoutine(key, { webhookUrl: taking.url });
  const user = await terminal();
  const env = environmentOf(key);
  const { json } = await user.run(['routines', 'rotate-secret', id], { env });
  await user.run(['routines', 'test-webhook', id], { env });
  const [first] = taking.received;
  expect(webhooks.verify(first!.body, first!.headers, json.webhookSecret).type).toBe('webhook.test');
});
