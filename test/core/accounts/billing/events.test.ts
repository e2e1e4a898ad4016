import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { EVENT_KINDS } from '#core/accounts/billing/payment/events.ts';
import { signatureOf } from '#dev/fakes/payments/delivery.ts';
import { LOCAL_WEBHOOK_SECRET } from '#dev/fakes/payments/local.ts';
import { proves } from '#test/support/proves.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { startService, type Service } from '#test/support/service.ts';
import { paidTest, priceOf, storedAccess, subscribed } from './support.ts';

const test = paidTest();

/** Posts a body with a signature, as any stranger on the internet could. */
function post(service: Service, body: string | Buffer, signature: string) {
  return fetch(`${service.url}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature },
    body: new Uint8Array(Buffer.from(body)),
  });
}

function eventsOf({ deps: { database } }: Service) {
  return database.rows`select id from payment_events order by id`;
}

/** Makes an unsigned event of more than 2 kB. */
function unsignedEvent(): string {
  return JSON.stringify({
    id: `evt_${randomBytes(8).toString('hex')}`,
    object: 'event',
    type: 'invoice.paid',
    livemode: false,
    created: 1,
    data: {
      object: { id: 'in_1', object: 'invoice', customer: 'cus_unknown', note: 'x'.repeat(1_850) },
    },
  });
}

test(
  'an event with any one byte changed is refused, and leaves no row',
  proves('POST /webhooks/<payment_processor>'),
  async ({ service }) => {
    const body = unsignedEvent();
    const signature = signatureOf(body, LOCAL_WEBHOOK_SECRET);
    const before = await eventsOf(service);
    expect(body.length).toBeGreaterThan(2_000);
    const statuses = new Set<number>();
    // On each change, only every seventh byte is tested.
    const places = Array.from({ length: body.length }, (_, at) => at).filter((at) => FULL_SIZE || at % 7 === 0);
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (const at of places.filter((_, place) => place % 8 === worker)) {
        const changed = Buffer.from(body);
        changed.writeUInt8((changed.readUInt8(at) + 1) % 256, at);
        statuses.add((await post(service, changed, signature)).status);
      }
    });
    await Promise.all(workers);
    expect([...statuses]).toEqual([401]);
    expect(await eventsOf(service)).toEqual(before);
    expect((await post(service, body, signature)).status).toBe(200);
    expect(await eventsOf(service)).toHaveLength(before.length + 1);
  },
);

test('a signature of another time, another secret or no form at all is refused as one error', async ({ service }) => {
  const body = unsignedEvent();
  const now = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', LOCAL_WEBHOOK_SECRET).update(`${now}.${body}`).digest('hex');
  const signatures = [
    signatureOf(body, LOCAL_WEBHOOK_SECRET, now - 400),
    signatureOf(body, LOCAL_WEBHOOK_SECRET, now + 400),
    `t=${now},${signatureOf(body, LOCAL_WEBHOOK_SECRET, now + 400)}`,
    `${signatureOf(body, LOCAL_WEBHOOK_SECRET)},t=${now}`,
    signatureOf(body, 'whsec_another'),
    `v1=${v1}`,
    `t=${now}`,
    `t=,v1=${v1}`,
    `t=${now},v0=${v1}`,
    `t=NaN,v1=${v1}`,
    'rubbish',
    ',,==',
  ];
  for (const signature of signatures) {
    const response = await post(service, body, signature);
    expect([signature, response.status]).toEqual([signature, 401]);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_signature' } });
  }
  const bare = await fetch(`${service.url}/webhooks/stripe`, { method: 'POST', body });
  expect(bare.status).toBe(401);
});

test('a body of more than 512 kB is refused before it is verified', async ({ service }) => {
  const body = 'x'.repeat(512 * 1024 + 1);
  const response = await post(service, body, signatureOf(body, LOCAL_WEBHOOK_SECRET));
  expect(response.status).toBe(413);
});

test('without a payment processor an event is refused like one with a wrong signature', async () => {
  const service = await startService();
  try {
    const body = unsignedEvent();
    const response = await post(service, body, signatureOf(body, LOCAL_WEBHOOK_SECRET));
    expect(response.status).toBe(401);
  } finally {
    await service.close();
  }
});

test('exactly seven kinds are taken; others, those of the other mode and repetitions change nothing', async ({
  service,
  processor,
  ada,
}) => {
  const { customer } = await subscribed({ service, processor }, ada);
  const listings = () => processor.requests.filter((name) => name === 'GET subscriptions').length;
  const kinds = [...EVENT_KINDS, 'customer.updated', 'charge.refunded', 'invoice.created'];
  const taken: string[] = [];
  for (const kind of kinds) {
    const before = listings();
    const event = processor.ledger.emit(kind, { object: 'unread', customer });
    expect(await processor.send(event)).toBe(200);
    if (listings() > before) taken.push(kind);
    const once = listings();
    expect(await processor.send(event)).toBe(200);
    expect(listings()).toBe(once);
  }
  expect(taken).toEqual([...EVENT_KINDS]);
  const before = listings();
  const live = { ...processor.ledger.emit('invoice.paid', { customer }), livemode: true };
  expect(await processor.send(live)).toBe(200);
  expect(listings()).toBe(before);
});

/** Lists the paths of every value, including those of lists and objects. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inside = Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]));
  return path.length === 0 ? inside : [path, ...inside];
}

/** Copies a value, with another value at one path. */
function withValue(value: object, path: readonly string[], other: unknown): object {
  const copy = structuredClone(value);
  let place: Record<string, unknown> = copy as Record<string, unknown>;
  for (const name of path.slice(0, -1)) place = place[name] as Record<string, unknown>;
  place[path.at(-1)!] = other;
  return copy;
}

test('no field of a payload, with any value, raises a plan or prolongs it', async ({ service, processor, ada }) => {
  const { ledger } = processor;
  const { customer, subscription } = await subscribed({ service, processor }, ada, 'starter');
  await processor.send(ledger.emit('customer.subscription.created', subscription));
  const truth = await storedAccess(service, ada);
  expect(truth).toMatchObject({ paid_plan: 'starter' });
  const better = ledger.subscribe('cus_of_another', priceOf('scale'));
  const event = ledger.emit('customer.subscription.updated', subscription);
  const checkout = {
    object: 'checkout.session',
    customer,
    payment_status: 'paid',
    plan: 'scale',
  };
  const invoice = { object: 'invoice', customer: { id: customer, plan: 'scale' } };
  const lies = ['scale', 'price_scale', 9_900, 4_102_444_800, true, null, { id: 'price_scale' }];
  const payloads = [
    { ...event, data: { object: better } },
    { ...event, data: { object: { ...better, customer } } },
    { ...event, type: 'checkout.session.completed', data: { object: checkout } },
    { ...event, type: 'invoice.paid', data: { object: invoice } },
    ...placesIn(event).flatMap((path) => lies.map((lie) => withValue(event, path, lie))),
  ];
  const statuses = new Set<number>();
  const send = async (payload: object, index: number) => {
    const isItsOwn = 'id' in payload && payload.id === event.id;
    const body = JSON.stringify(isItsOwn ? { ...payload, id: `evt_lie_${index}` } : payload);
    statuses.add((await post(service, body, signatureOf(body, LOCAL_WEBHOOK_SECRET))).status);
  };
  for (let at = 0; at < payloads.length; at += 8) {
    const sent = payloads.slice(at, at + 8).map((payload, index) => send(payload, at + index));
    await Promise.all(sent);
    expect(await storedAccess(service, ada)).toEqual(truth);
  }
  expect(payloads.length).toBeGreaterThan(200);
  expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 401]);
  expect((await ada.session.get('/v1/billing')).data).toMatchObject({
    plan: 'starter',
    subscription: { priceCents: 1_000 },
  });
});

test('the response waits five seconds for the sync and no longer, and the sync goes on', async ({
  service,
  processor,
  ada,
}) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  const list = { object: 'list', has_more: false, data: [structuredClone(subscription)] };
  processor.faults.push({
    of: 'GET subscriptions',
    kind: { name: 'stale', body: list, ms: 8_000 },
  });
  const event = processor.ledger.emit('customer.subscription.created', subscription);
  expect(await processor.send(event)).toBe(200);
  // The list of subscriptions has not arrived yet.
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: null });
  await expect.poll(() => storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
});
