import { expect } from 'vitest';
import { LOCAL_WEBHOOK_SECRET } from '#dev/fakes/payments/local.ts';
import { deliver } from '#dev/fakes/payments/delivery.ts';
import { sql } from '#lib/database/index.ts';
import { parseSamples, total } from '#test/core/upkeep/observability/scrape.ts';
import { customerOf, growth, growthOf, paidTest, priceOf, storedAccess, subscribed } from './support.ts';
import { EVERY, ago, changeCustomers, increasedBy } from '#test/support/given.ts';

const test = paidTest();
const testInLiveMode = paidTest({ STRIPE_SECRET_KEY: 'sk_live_of_this_test' });

test('a subscription to an unknown price grants nothing and alerts', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  const price = { ...priceOf('scale'), id: 'price_of_another_product' };
  const grown = await growth(service, 'unknown_price', () =>
    processor.send(processor.ledger.changePrice(subscription, price)),
  );
  expect(grown).toBe(1);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: null });
});

test('a second subscription alerts, and the best plan counts', async ({ service, processor, ada }) => {
  const { customer, subscription } = await subscribed({ service, processor }, ada, 'scale');
  processor.ledger.subscribe(customer, priceOf('starter'));
  const grown = await growth(service, 'several_subscriptions', () =>
    processor.send(processor.ledger.emit('customer.subscription.created', subscription)),
  );
  expect(grown).toBe(1);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'scale' });
});

test('a subscription of a deleted organization alerts', async ({ service, processor, ada }) => {
  const customer = await customerOf(service, ada);
  const [own] = (await ada.session.get('/v1/organizations')).data;
  const confirm = encodeURIComponent(own.name);
  const deleted = await ada.session.delete(`/v1/organizations/${own.id}?confirm=${confirm}`);
  expect(deleted.status).toBe(200);
  const grown = await growth(service, 'deleted_organization', () => {
    const subscription = processor.ledger.subscribe(customer, priceOf('pro'));
    return processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  });
  expect(grown).toBe(1);
});

test('a key that the processor refuses alerts', async ({ service, processor, ada }) => {
  const grown = await growth(service, 'authentication', async () => {
    processor.faults.push({ kind: { name: 'unauthorized' } });
    await ada.session.post('/v1/billing/checkout', { plan: 'pro', entrypoint: 'billing' });
  });
  expect(grown).toBe(1);
});

testInLiveMode(
  'a live subscription of an unknown customer alerts, and no other event of one does',
  async ({ service, processor }) => {
    const { endpoint, ledger } = processor;
    const send = (type: string, livemode: boolean) =>
      deliver(
        { ...ledger.emit(type, { object: 'unread', customer: 'cus_unknown' }), livemode },
        { ...endpoint, secret: LOCAL_WEBHOOK_SECRET },
      );
    const statuses: number[] = [];
    const grownBy = (type: string, livemode: boolean) =>
      growth(service, 'unknown_customer', async () => statuses.push(await send(type, livemode)));
    expect(await grownBy('customer.subscription.created', true)).toBe(1);
    expect(await grownBy('invoice.paid', true)).toBe(0);
    expect(await grownBy('customer.subscription.created', false)).toBe(0);
    expect(statuses).toEqual([200, 200, 200]);
  },
);

test('what is ignored is counted with the reason', async ({ service, processor, ada }) => {
  const { customer } = await subscribed({ service, processor }, ada);
  const { ledger } = processor;
  const paid = ledger.emit('invoice.paid', { customer });
  const counted = (kind: string, outcome: string, event: typeof paid) =>
    growthOf(service, ['ras_payment_events_total', { kind, outcome }], () => processor.send(event));
  expect(await counted('invoice.paid', 'accepted', paid)).toBe(1);
  expect(await counted('invoice.paid', 'repeated', paid)).toBe(1);
  const other = ledger.emit('charge.refunded', { customer });
  expect(await counted('other', 'other_kind', other)).toBe(1);
  const live = { ...ledger.emit('invoice.paid', { customer }), livemode: true };
  expect(await counted('invoice.paid', 'other_mode', live)).toBe(1);
  const unknown = ledger.emit('invoice.paid', { customer: 'cus_of_nobody' });
  expect(await counted('invoice.paid', 'unknown_customer', unknown)).toBe(1);
});

test('the age of the oldest request that no sync has met is a figure, and 0 when all are met', async ({
  service,
  processor,
  ada,
}) => {
  await subscribed({ service, processor }, ada);
  const age = async () => total(parseSamples(await service.registry.metrics()), 'ras_payment_oldest_unsynced_seconds');
  const { database } = service.deps;
  await changeCustomers(database, EVERY, { syncDone: sql`sync_requested` });
  expect(await age()).toBe(0);
  const { organizationId } = ada;
  await changeCustomers(
    database,
    { organizationId },
    { syncRequested: increasedBy(1), requestedAt: ago('20 minutes') },
  );
  expect(Math.floor((await age()) / 60)).toBe(20);
});
