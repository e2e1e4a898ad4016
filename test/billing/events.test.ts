import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { EVENT_KINDS } from '#core/billing/index.ts';
import { signatureOf } from '#dev/payments/delivery.ts';
import { LOCAL_WEBHOOK_SECRET } from '#dev/payments/local.ts';
import { rows, sql } from '#lib/database/index.ts';
import { proves } from '#test/support/proves.ts';
import { startService, type Service } from '#test/support/service.ts';
import { paidTest, storedAccess, subscribed } from './support.ts';

const test = paidTest();

/** Posts a body with a signature, as anybody on the internet could. */
function post(service: Service, body: string | Buffer, signature: string) {
  return fetch(`${service.url}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature },
    body: new Uint8Array(Buffer.from(body)),
  });
}

function eventsOf({ deps: { database } }: Service) {
  return rows(database, sql`select id from payment_events order by id`);
}

/** Makes an event of more than 2 kB that nobody has signed. */
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
  { ...proves('POST /webhooks/<payment_processor>'), timeout: 120_000 },
  async ({ service }) => {
    const body = unsignedEvent();
    const signature = signatureOf(body, LOCAL_WEBHOOK_SECRET);
    const before = await eventsOf(service);
    expect(body.length).toBeGreaterThan(2_000);
    const statuses = new Set<number>();
    const places = Array.from({ length: body.length }, (_, at) => at);
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (const at of places.filter((place) => place % 8 === worker)) {
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

test('a signature of another time, another secret or no form at all is refused as one error', async ({
  service,
}) => {
  const body = unsignedEvent();
  const now = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', LOCAL_WEBHOOK_SECRET).update(`${now}.${body}`).digest('hex');
  const signatures = [
    signatureOf(body, LOCAL_WEBHOOK_SECRET, now - 400),
    signatureOf(body, LOCAL_WEBHOOK_SECRET, now + 400),
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

test('where nobody pays, an event is refused like one with a wrong signature', async () => {
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
    const event = processor.ledger.emit(kind, { object: 'whatever', customer });
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

test('no field of a payload raises a plan', async ({ service, processor, ada }) => {
  const { customer, subscription } = await subscribed({ service, processor }, ada, 'starter');
  const lie = structuredClone(subscription);
  lie.items.data[0]!.price = { ...lie.items.data[0]!.price, id: 'price_scale' };
  lie.items.data[0]!.current_period_end += 10 * 365 * 86_400;
  for (const object of [
    lie,
    { ...lie, metadata: { plan: 'scale', organization: ada.organizationId } },
    { object: 'checkout.session', customer, payment_status: 'paid', plan: 'scale' },
    { object: 'invoice', customer: { id: customer, plan: 'scale' }, amount_paid: 9_900 },
  ]) {
    await processor.send(processor.ledger.emit('customer.subscription.updated', object));
    expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'starter' });
  }
  const { data } = await ada.session.get('/v1/billing');
  expect(data).toMatchObject({ plan: 'starter', subscription: { priceCents: 1_000 } });
});
