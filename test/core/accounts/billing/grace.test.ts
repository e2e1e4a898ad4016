import { expect } from 'vitest';
import { DAY, itemFor } from '#dev/fakes/payments/ledger.ts';
import type { Subscription } from '#dev/fakes/payments/objects.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { ago, changePastDue } from '#test/support/given.ts';
import { growth, paidTest, priceOf, storedAccess, subscribed } from './support.ts';

const test = paidTest();

/** Sends an event, so that the service reads the subscription. */
function tell(processor: PaymentProcessor, subscription: Subscription): Promise<number> {
  return processor.send(processor.ledger.emit('customer.subscription.updated', subscription));
}

/** Lets payments fail for any length of time, with a new invoice each month. */
function failing({ ledger }: PaymentProcessor, { customer }: Subscription): void {
  ledger.leavesPastDue = true;
  ledger.payments.set(customer, 'fail');
}

test('three months past due with a new invoice each month have one grace', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada, 'scale');
  failing(processor, subscription);
  processor.ledger.advance(31);
  await tell(processor, subscription);
  const first = await storedAccess(service, ada);
  expect(first).toMatchObject({ paid_plan: 'scale' });
  const invoice = subscription.latest_invoice.id;

  processor.ledger.advance(31);
  expect([subscription.status, subscription.latest_invoice.id === invoice]).toEqual(['past_due', false]);
  await tell(processor, subscription);
  expect((await storedAccess(service, ada))?.paid_until).toEqual(first?.paid_until);

  await changePastDue(service.deps.database, { subscriptionId: subscription.id }, { since: ago('15 days') });
  processor.ledger.advance(31);
  await tell(processor, subscription);
  expect((await ada.session.get('/v1/billing')).data).toMatchObject({ plan: 'free', status: 'past_due' });
});

test('a subscription that is paid for and fails again has a grace of its own; one that was unpaid between has not', async ({
  service,
  processor,
  ada,
}) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  const become = async (status: string) => {
    subscription.status = status;
    await tell(processor, subscription);
    return (await ada.session.get('/v1/billing')).data.plan;
  };
  expect(await become('past_due')).toBe('pro');
  await changePastDue(service.deps.database, { subscriptionId: subscription.id }, { since: ago('15 days') });
  expect(await become('past_due')).toBe('free');
  expect(await become('unpaid')).toBe('free');
  expect(await become('past_due')).toBe('free');
  expect(await become('active')).toBe('pro');
  expect(await become('past_due')).toBe('pro');
});

test.for([['unpaid'], ['paused'], ['trialing'], ['incomplete'], ['of_next_year'], ['paused', 'trialing', 'unpaid']])(
  'a subscription that is %j between two times past due has one grace',
  async (between, { service, processor, ada }) => {
    const { subscription } = await subscribed({ service, processor }, ada);
    const become = async (status: string) => {
      subscription.status = status;
      await tell(processor, subscription);
    };
    await become('past_due');
    await changePastDue(service.deps.database, { subscriptionId: subscription.id }, { since: ago('15 days') });
    for (const status of between) await become(status);
    await become('past_due');
    expect((await ada.session.get('/v1/billing')).data.plan).toBe('free');
  },
);

test.for([
  ['starter', 'scale'],
  ['scale', 'starter'],
  ['starter', 'pro', 'starter'],
] as const)(
  'of several items the best plan counts, and an operator hears of it',
  async (plans, { service, processor, ada }) => {
    const { subscription } = await subscribed({ service, processor }, ada, plans[0]);
    const start = processor.ledger.now() - DAY;
    const foreign = itemFor({ ...priceOf('scale'), id: 'price_of_a_cap' }, start);
    subscription.items.data = [foreign, ...plans.map((plan) => itemFor(priceOf(plan), start))];
    const grown = await growth(service, 'several_subscriptions', () => tell(processor, subscription));
    expect(grown).toBe(1);
    const best = plans.find((plan) => plan === 'scale') ?? 'pro';
    expect((await ada.session.get('/v1/billing')).data).toMatchObject({ plan: best, subscription: { plan: best } });
  },
);

test('an item behind the tenth counts too, and what is not ours beside it alerts no one', async ({
  service,
  processor,
  ada,
}) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  const start = processor.ledger.now();
  const others = Array.from({ length: 12 }, (_, index) => itemFor({ ...priceOf('pro'), id: `price_${index}` }, start));
  subscription.items.data = [...others, itemFor(priceOf('scale'), start)];
  const grown = await growth(service, 'several_subscriptions', () => tell(processor, subscription));
  expect(grown).toBe(0);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'scale' });
});
