import { expect } from 'vitest';
import { itemOf } from '#dev/fakes/payments/ledger.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { customerOf, paidTest, priceOf, storedAccess, subscribed } from './support.ts';
import { ago, changeCustomers, changeOrganizations } from '#test/support/given.ts';

const test = paidTest();

/** Returns every order of a list. */
function ordersOf<T>(things: readonly T[]): T[][] {
  if (things.length < 2) return [[...things]];
  return things.flatMap((first, at) =>
    ordersOf(things.filter((_, other) => other !== at)).map((rest) => [first, ...rest]),
  );
}

test('all orders of five events, each sent three times, come to one state', async ({ service, processor }) => {
  const { ledger } = processor;
  const all = ordersOf([0, 1, 2, 3, 4]);
  expect(all).toHaveLength(120);
  const orders = all.filter((_, index) => FULL_SIZE || index % 7 === 0);
  const states = new Set<string>();
  const inLane = async () => {
    const person = await signUp(service);
    const customer = await customerOf(service, person);
    for (let order = orders.pop(); order !== undefined; order = orders.pop()) {
      const subscription = ledger.subscribe(customer, priceOf('starter'));
      const events = [
        ledger.emit('customer.subscription.created', subscription),
        ledger.emit('invoice.paid', subscription.latest_invoice),
        ledger.changePrice(subscription, priceOf('scale')),
        ledger.emit('invoice.payment_failed', subscription.latest_invoice),
        ledger.cancelAtEnd(subscription),
      ];
      const sent = order.map((at) => events[at]!);
      for (const event of [...sent, ...sent.toReversed(), ...sent]) await processor.send(event);
      const state = await storedAccess(service, person);
      const end = itemOf(subscription).current_period_end;
      states.add(JSON.stringify([state?.paid_plan, Number(state?.paid_until) / 1_000 - end]));
      // Delete the subscription, so that the list does not grow with the number of orders.
      ledger.subscriptions.delete(subscription.id);
    }
  };
  await Promise.all(Array.from({ length: 6 }, inLane));
  expect([...states]).toEqual([JSON.stringify(['scale', 0])]);
});

test('twenty copies of an event at once are one sync request and one state', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  const event = processor.ledger.emit('customer.subscription.created', subscription);
  const statuses = await Promise.all(Array.from({ length: 20 }, () => processor.send(event)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
  const counters = await service.deps.database
    .row`select sync_requested, sync_done from billing_customers where organization_id = ${ada.organizationId}`;
  expect(counters).toEqual({ sync_requested: 1, sync_done: 1 });
});

test('an event that comes while a sync is listing makes it list once more', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada, 'starter');
  const created = processor.ledger.emit('customer.subscription.created', subscription);
  const stale = { object: 'list', has_more: false, data: [structuredClone(subscription)] };
  // The first listing is slow, and shows an earlier state.
  processor.faults.push({ of: 'GET subscriptions', kind: { name: 'stale', body: stale, ms: 500 } });
  const first = processor.send(created);
  await expect.poll(() => processor.faults.length).toBe(0);
  processor.ledger.changePrice(subscription, priceOf('scale'));
  await Promise.all([first, processor.send(processor.ledger.events.at(-1)!)]);
  await expect
    .poll(() => storedAccess(service, ada))
    .toMatchObject({ paid_plan: 'scale', paid_until: expect.any(Date) });
});

test('a process that stalls after listing writes nothing over newer facts', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada, 'starter');
  const stale = { object: 'list', has_more: false, data: [structuredClone(subscription)] };
  processor.faults.push({
    of: 'GET subscriptions',
    kind: { name: 'stale', body: stale, ms: 1_500 },
  });
  const stalled = processor.send(processor.ledger.emit('invoice.paid', subscription.latest_invoice));
  await expect.poll(() => processor.faults.length).toBe(0);
  processor.ledger.changePrice(subscription, priceOf('scale'));
  // Its lease expires while it waits for the processor.
  const { organizationId } = ada;
  await changeCustomers(service.deps.database, { organizationId }, { leasedUntil: ago('1 second') });
  await processor.send(processor.ledger.events.at(-1)!);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'scale' });
  await stalled;
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'scale' });
});

test('paid access ends by itself when its time is over', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  expect((await ada.session.get('/v1/billing')).data.plan).toBe('pro');
  await changeOrganizations(service.deps.database, ada.organizationId, { paidUntil: AT_ONCE });
  const { data } = await ada.session.get('/v1/billing');
  expect(data).toMatchObject({ plan: 'free', source: 'none', period: { kind: 'month' } });
});
