import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import { createSealedWebhookSecrets, rotateWebhookSecret } from '#core/authoring/routines/index.ts';
import { claimAttempt } from '#core/delivery/webhooks/attempt.ts';
import { RETRY_LADDER_MS } from '#core/delivery/webhooks/delivery.ts';
import { attemptDelivery, enqueueDelivery, listDeliveries } from '#core/delivery/webhooks/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import { startReceiver, type Received } from '#test/lib/outbound/receiver.ts';
import { startWorld, type World } from './world.ts';
import { changeRoutines, earlier } from '#test/support/given.ts';

let world: World;
/** Starts a service with two connections, so that an attempt that holds one while it sends would be noticed. */
beforeAll(async () => {
  world = await startWorld({ poolSize: 2 });
});
afterAll(() => world?.stop());

function answering(status: number, headers: Record<string, string> = {}, body = '') {
  return startReceiver((_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  });
}

/** Makes a receiver that accepts requests and never responds. */
function hanging() {
  return startReceiver(() => undefined);
}

function verify(secret: string, { body, headers }: Received) {
  return new Webhook(secret).verify(body, signatureOf(headers));
}

function signatureOf(headers: IncomingHttpHeaders) {
  return Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  );
}

async function attemptsOf(deliveryId: string) {
  const [found] = await world.deps.database.rows<{
    runId: string;
  }>`select run_id as "runId" from webhook_deliveries where id = ${deliveryId}`;
  const [delivery] = await listDeliveries(world.deps.database, found!.runId);
  return delivery!.attempts;
}

function setUrl(routineId: string, url: string | null) {
  return changeRoutines(world.deps.database, routineId, { webhookUrl: url });
}

describe('what is sent', () => {
  test('is the event, signed so that the reference library accepts it', async () => {
    const receiver = await answering(204);
    const routine = await world.createRoutine(`${receiver.origin}/hook?a=1`);
    const delivery = await world.queue(routine, receiver.origin, { state: 'failed' });
    expect(await world.attempt(delivery)).toBe('delivered');

    const [request] = receiver.received;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook?a=1',
      headers: { 'content-type': 'application/json', 'webhook-id': delivery.id },
    });
    expect(verify(routine.webhookSecret, request!)).toMatchObject({
      type: 'run.failed',
      data: { routineId: routine.id, state: 'failed' },
    });
    expect(await world.read(delivery)).toMatchObject({
      state: 'delivered',
      reason: null,
      attempts: 1,
      finished: true,
    });
    expect(await attemptsOf(delivery.id)).toEqual([
      {
        index: 1,
        startedAt: expect.any(Date),
        durationMs: expect.any(Number),
        status: 204,
        error: null,
        responseExcerpt: '',
      },
    ]);
  });

  test('is the same, byte for byte and with the same id, on every attempt', async () => {
    const receiver = await answering(500);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin, { result: 'naïve 👍 \u0000 "x"' });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await world.attempt(delivery);
      await world.passTime(delivery.id);
    }
    expect(receiver.received).toHaveLength(3);
    const bodies = new Set(receiver.received.map(({ body }) => body));
    expect([...bodies]).toEqual([(await world.read(delivery)).body]);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect([...ids]).toEqual([delivery.id]);
    for (const request of receiver.received) verify(routine.webhookSecret, request);
  });

  test('carries the signatures of both secrets for 24 hours after a rotation', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const deliveries = [await world.queue(routine, receiver.origin), await world.queue(routine, receiver.origin)];
    const rotated = await rotateWebhookSecret(world.deps, SYSTEM, { ...routine, force: false });
    await world.attempt(deliveries[0]!);
    const [during] = receiver.received;
    verify(routine.webhookSecret, during!);
    verify(rotated.webhookSecret, during!);

    await changeRoutines(world.deps.database, routine.id, {
      webhookSecretPreviousUntil: earlier('24 hours'),
    });
    await world.attempt(deliveries[1]!);
    const after = receiver.received[1]!;
    verify(rotated.webhookSecret, after);
    expect(() => verify(routine.webhookSecret, after)).toThrow('No matching signature');
  });

  test('goes to the URL that the routine has by then', async () => {
    const [old, current] = [await answering(500), await answering(200)];
    const routine = await world.createRoutine(old.origin);
    const delivery = await world.queue(routine, old.origin);
    await world.attempt(delivery);
    await setUrl(routine.id, current.origin);
    await world.passTime(delivery.id);
    expect(await world.attempt(delivery)).toBe('delivered');
    expect([old.received.length, current.received.length]).toEqual([1, 1]);
  });

  test('is nothing any more once the URL was taken away', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    await setUrl(routine.id, null);
    expect(await world.attempt(delivery)).toBe('failed');
    expect(receiver.received).toHaveLength(0);
    expect(await world.read(delivery)).toMatchObject({ reason: 'webhook_removed', finished: true });
    expect(await attemptsOf(delivery.id)).toMatchObject([
      { status: null, error: expect.stringContaining('no longer has a webhook URL') },
    ]);
  });
});

test('a routine that was archived sends nothing of a run that ends later', async () => {
  const receiver = await answering(200);
  const routine = await world.createRoutine(receiver.origin);
  await changeRoutines(world.deps.database, routine.id, { state: 'archived' });
  const delivery = await world.queue(routine, receiver.origin);
  expect(await world.attempt(delivery)).toBe('failed');
  expect(await world.read(delivery)).toMatchObject({ reason: 'routine_archived', finished: true });
  expect(receiver.received).toHaveLength(0);
});

// The tests run side by side, because two of them mostly wait.
describe.concurrent('a receiver whose status has come', () => {
  test.each<[string, RequestListener]>([
    ['sends a body that never ends', (_, response) => void response.writeHead(200).write('taken')],
    [
      'breaks its body off',
      (_, response) => {
        response.writeHead(202, { 'content-length': '400' }).write('taken');
        setTimeout(() => response.destroy(), 20);
      },
    ],
    [
      'said 100 Continue before it',
      (_, response) => {
        response.writeContinue();
        response.writeHead(200).end('taken');
      },
    ],
  ])('has the event, also where it %s', async (_, answer) => {
    const receiver = await startReceiver(answer);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    expect(await world.attempt(delivery)).toBe('delivered');
    expect(await attemptsOf(delivery.id)).toMatchObject([{ error: null, responseExcerpt: 'taken' }]);
  });

  test('has not taken it where the status is none of success, and its body does not end either', async () => {
    const receiver = await startReceiver((_, response) => void response.writeHead(500).write('oh'));
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    expect(await world.attempt(delivery)).toBe('pending');
    expect(await attemptsOf(delivery.id)).toMatchObject([{ status: 500, error: null, responseExcerpt: 'oh' }]);
  });
});

describe('an attempt that fails', () => {
  test('is repeated on the retry schedule until the last one, and then given up', async () => {
    const receiver = await answering(503, {}, 'busy');
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    for (const wait of RETRY_LADDER_MS) {
      expect(await world.attempt(delivery)).toBe('pending');
      const { waitMs } = await world.read(delivery);
      // The wait is measured a moment after it began.
      expect(waitMs).toBeLessThanOrEqual(wait * 1.1);
      expect(waitMs).toBeGreaterThan(wait * 0.9 - 20_000);
      expect(await world.attempt(delivery)).toBe('not_due');
      await world.passTime(delivery.id);
    }
    expect(await world.attempt(delivery)).toBe('failed');
    expect(receiver.received).toHaveLength(10);
    expect(await world.read(delivery)).toMatchObject({
      state: 'failed',
      reason: 'retries_exhausted',
      attempts: 10,
      waitMs: null,
      finished: true,
    });
    const attempts = await attemptsOf(delivery.id);
    expect(attempts.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ status: 503, responseExcerpt: 'busy', error: null });
    }
  });

  test.each([
    ['seconds', () => '3600'],
    ['a date', () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])('waits as long as the receiver asks for in %s', async (_, retryAfter) => {
    const receiver = await answering(429, { 'retry-after': retryAfter() });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    expect(await world.attempt(delivery)).toBe('pending');
    const { waitMs } = await world.read(delivery);
    expect(waitMs).toBeGreaterThan(3_560_000);
    expect(waitMs).toBeLessThanOrEqual(3_601_000);
  });

  test('because of a redirect is not led elsewhere', async () => {
    const target = await answering(200);
    const receiver = await answering(307, { location: target.origin });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    expect(await world.attempt(delivery)).toBe('pending');
    expect(target.received).toHaveLength(0);
    expect(await attemptsOf(delivery.id)).toMatchObject([{ status: 307 }]);
  });

  test('because no server listens, or at a forbidden address, says so', async () => {
    const routine = await world.createRoutine('http://127.0.0.1:9/');
    const refused = await world.createRoutine('http://169.254.169.254/latest/meta-data/');
    for (const { id, projectId, webhookSecret } of [routine, refused]) {
      const delivery = await world.queue({ id, projectId, webhookSecret }, 'http://unused/');
      expect(await world.attempt(delivery)).toBe('pending');
      expect(await attemptsOf(delivery.id)).toMatchObject([
        { status: null, responseExcerpt: null, error: expect.stringMatching(/^\S+: .+/) },
      ]);
    }
  });

  test('because the secret cannot be read costs an attempt only, and nothing is sent unsigned', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    const otherKey = createSecretBox({ current: Buffer.alloc(32, 8).toString('base64') });
    const over = { webhookSecrets: createSealedWebhookSecrets(otherKey) };
    expect(await world.attempt(delivery, over)).toBe('pending');
    expect(receiver.received).toHaveLength(0);
    expect(await attemptsOf(delivery.id)).toMatchObject([{ status: null, error: 'the event could not be signed' }]);
    await world.passTime(delivery.id);
    expect(await world.attempt(delivery)).toBe('delivered');
  });
});

describe('a response of 410', () => {
  test('stops this delivery and all others of the routine, and marks its webhook', async () => {
    const receiver = await answering(410);
    const [routine, other] = [await world.createRoutine(receiver.origin), await world.createRoutine(receiver.origin)];
    const [first, waiting] = [await world.queue(routine, receiver.origin), await world.queue(routine, receiver.origin)];
    const unrelated = await world.queue(other, receiver.origin);
    expect(await world.attempt(first)).toBe('failed');
    expect(await attemptsOf(first.id)).toMatchObject([{ status: 410 }]);
    for (const stopped of [first, waiting]) {
      expect(await world.read(stopped)).toMatchObject({
        state: 'failed',
        reason: 'gone',
        waitMs: null,
        finished: true,
      });
    }
    expect(await world.attempt(waiting)).toBe('not_due');
    expect(await world.read(unrelated)).toMatchObject({ state: 'pending' });

    const [marked] = await world.deps.database.rows<{
      webhookFailedAt: Date;
      version: number;
    }>`select webhook_failed_at as "webhookFailedAt", version from routines where id = ${routine.id}`;
    expect(marked).toEqual({ webhookFailedAt: expect.any(Date), version: 2 });
    const run = await world.createRun(routine);
    await enqueueDelivery(world.deps, world.deps.database, {
      ...run,
      webhookUrl: receiver.origin,
      webhookFailedAt: marked!.webhookFailedAt,
    });
    expect(await listDeliveries(world.deps.database, run.id)).toEqual([]);
  });

  test('also ends an attempt that is under way, unless that one succeeds', async () => {
    const release = Promise.withResolvers<void>();
    const receiver = await startReceiver(async (request, response) => {
      const id = request.headers['webhook-id'];
      if (id !== gone.id) await release.promise;
      response.writeHead(id === good.id ? 200 : id === bad.id ? 500 : 410).end();
    });
    const routine = await world.createRoutine(receiver.origin);
    const good = await world.queue(routine, receiver.origin);
    const bad = await world.queue(routine, receiver.origin);
    const gone = await world.queue(routine, receiver.origin);
    const underWay = [world.attempt(good), world.attempt(bad)];
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), 10_000);
    expect(await world.attempt(gone)).toBe('failed');
    release.resolve();
    await Promise.all(underWay);
    expect(await world.read(good)).toMatchObject({ state: 'delivered', reason: null });
    expect(await world.read(bad)).toMatchObject({ state: 'failed', reason: 'gone' });
    expect(await attemptsOf(bad.id)).toMatchObject([{ status: 500 }]);
  });

  test('says nothing about a URL that was set in the meantime', async () => {
    const current = await answering(200);
    const receiver = await startReceiver(async (_, response) => {
      await setUrl(routine.id, current.origin);
      response.writeHead(410).end();
    });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    expect(await world.attempt(delivery)).toBe('pending');
    await world.passTime(delivery.id);
    expect(await world.attempt(delivery)).toBe('delivered');
    expect(current.received).toHaveLength(1);
  });
});

describe('a difficult receiver', () => {
  test('that responds without end is read to a limit, and 1 kB of it is kept as text', async () => {
    const receiver = await startReceiver((_, response) => {
      response.writeHead(200);
      response.write(Buffer.from([0x61, 0x00, 0xff]));
      const flood = setInterval(() => response.write('é'.repeat(50_000)), 1);
      response.on('close', () => clearInterval(flood));
    });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    expect(await world.attempt(delivery)).toBe('delivered');
    const [attempt] = await attemptsOf(delivery.id);
    // 3 bytes and 510 characters of 2 bytes are 1,023 bytes, so the limit would cut the next character in two.
    expect(attempt?.responseExcerpt).toBe(`a\uFFFD${'é'.repeat(510)}`);
  });

  test('that never responds is given up in time and does not keep others from their events', async () => {
    const [slow, quick] = [await hanging(), await answering(200)];
    const stuck = await world.createRoutine(slow.origin);
    const fine = await world.createRoutine(quick.origin);
    const held = await Promise.all(Array.from({ length: 10 }, () => world.queue(stuck, slow.origin)));
    const delivery = await world.queue(fine, quick.origin);
    const hung = held.map((each) => world.attempt(each, { webhookTimeoutMs: 3_000 }));
    await vi.waitFor(() => expect(slow.received).toHaveLength(10), 10_000);
    // Ten requests are under way, with a pool of two connections.
    expect(await world.attempt(delivery)).toBe('delivered');
    expect(new Set(await Promise.all(hung))).toEqual(new Set(['pending']));
    const [attempt] = await attemptsOf(held[0]!.id);
    expect(attempt).toMatchObject({
      status: null,
      error: expect.stringContaining('not finished within 3000 milliseconds'),
    });
    expect(attempt!.durationMs).toBeGreaterThanOrEqual(2_900);
    await vi.waitFor(() => expect(slow.open()).toBe(0), 10_000);
  });
});

describe('at most one attempt at a time', () => {
  test('is made, however many workers try', async () => {
    const receiver = await startReceiver((_, response) => {
      setTimeout(() => response.end(), 200);
    });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => world.attempt(delivery)));
    expect(outcomes.toSorted()).toEqual(['delivered', ...Array<string>(11).fill('not_due')]);
    expect(receiver.received).toHaveLength(1);
    expect(await attemptsOf(delivery.id)).toHaveLength(1);
  });

  test('holds a delivery that crashed until its lease is over; then it is sent again under the same id', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    // A worker claimed the delivery, perhaps sent it, and died before it could store the outcome.
    await claimAttempt(world.deps.database, delivery.id);
    expect(await world.read(delivery)).toMatchObject({ state: 'sending', attempts: 1 });
    expect(await world.attempt(delivery)).toBe('not_due');
    expect(await dueIds()).not.toContain(delivery.id);

    await world.passTime(delivery.id);
    const due = await world.claim();
    expect(due).toContainEqual({ id: delivery.id, attempt: 2, projectId: routine.projectId });
    expect(await world.attempt(delivery)).toBe('delivered');
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery.id]);
    expect(await attemptsOf(delivery.id)).toMatchObject([
      { index: 1, status: null, error: expect.stringContaining('the service broke off the delivery') },
      { index: 2, status: 200, error: null },
    ]);
  });

  test('that broke off is taken over at once by the workflow that made it, and by no other', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    await claimAttempt(world.deps.database, delivery.id);
    expect(await attemptDelivery(world.deps, delivery.id, { after: 2 })).toBe('not_due');
    expect(await attemptDelivery(world.deps, delivery.id, { after: 1 })).toBe('delivered');
    expect(await attemptDelivery(world.deps, delivery.id, { after: 1 })).toBe('not_due');
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery.id]);
    expect(await attemptsOf(delivery.id)).toMatchObject([
      { index: 1, error: expect.stringContaining('the service broke off the delivery') },
      { index: 2, status: 200 },
    ]);
  });

  test('that keeps crashing ends', async () => {
    const receiver = await answering(200);
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    for (let crash = 0; crash < 10; crash++) {
      expect(await claimAttempt(world.deps.database, delivery.id)).toBeDefined();
      await world.passTime(delivery.id);
    }
    expect(await world.attempt(delivery)).toBe('failed');
    expect(receiver.received).toHaveLength(0);
    expect(await world.read(delivery)).toMatchObject({ reason: 'retries_exhausted' });
  });

  test('that was overtaken and succeeds after all is not made undone by the other', async () => {
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    const receiver = await startReceiver(async (_, response) => {
      const status = await answers[receiver.received.length - 1]!.promise;
      response.writeHead(status).end();
    });
    const routine = await world.createRoutine(receiver.origin);
    const delivery = await world.queue(routine, receiver.origin);
    const first = world.attempt(delivery);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 10_000);
    await world.passTime(delivery.id);
    const second = world.attempt(delivery);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), 10_000);
    answers[0]!.resolve(200);
    expect(await first).toBe('delivered');
    answers[1]!.resolve(500);
    await second;
    expect(await world.read(delivery)).toMatchObject({ state: 'delivered', finished: true });
    expect(await attemptsOf(delivery.id)).toMatchObject([
      { status: 200, error: null },
      { status: 500, error: null },
    ]);
  });
});

test('an attempt that our own shutdown breaks off is due again at once and costs no rung', async () => {
  const slow = await hanging();
  const routine = await world.createRoutine(slow.origin);
  const delivery = await world.queue(routine, slow.origin);
  const shutdown = new AbortController();
  const { signal } = shutdown;
  const attempt = attemptDelivery(world.deps, delivery.id, { signal });
  await vi.waitFor(() => expect(slow.received).toHaveLength(1), 10_000);
  shutdown.abort();
  expect(await attempt).toBe('pending');
  await expect(attemptDelivery(world.deps, delivery.id, { signal })).rejects.toThrow('aborted');

  const receiver = await answering(500);
  await setUrl(routine.id, receiver.origin);
  expect(await world.attempt(delivery)).toBe('pending');
  const { waitMs, attempts } = await world.read(delivery);
  expect(attempts).toBe(2);
  expect(waitMs).toBeLessThanOrEqual(66_000);
});

test('a delivery that does not exist is nothing to do', async () => {
  expect(await world.attempt({ id: 'whd_none' })).toBe('not_due');
});

test('secrets and results stand in no log line and in no row of deliveries but the body', async () => {
  const receiver = await startReceiver((request, response) => {
    response.writeHead(500).end(JSON.stringify(request.headers));
  });
  const routine = await world.createRoutine(`${receiver.origin}/hook?token=canary-url`);
  const delivery = await world.queue(routine, receiver.origin, { result: 'canary-result' });
  const { webhookSecret } = await rotateWebhookSecret(world.deps, SYSTEM, {
    ...routine,
    force: false,
  });
  await world.attempt(delivery);
  const dump = JSON.stringify([
    await world.deps.database.rows`select * from webhook_attempts`,
    await world.deps.database.rows`select * from webhook_deliveries`,
    await world.deps.database.rows`select * from routines where id = ${routine.id}`,
  ]);
  for (const secret of [routine.webhookSecret, webhookSecret]) {
    const raw = secret.slice('whsec_'.length);
    expect(dump).not.toContain(raw);
    expect(dump).not.toContain(JSON.stringify(raw).slice(1, -1));
    expect(world.logged()).not.toContain(raw);
  }
  expect(world.logged()).toContain(delivery.id);
  expect(world.logged()).not.toMatch(/canary|whsec_/);
});

async function dueIds(): Promise<string[]> {
  return (await world.claim()).map(({ id }) => id);
}
