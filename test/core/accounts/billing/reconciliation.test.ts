import { expect } from 'vitest';
import { keepPaymentsInStep } from '#core/accounts/billing/index.ts';
import { fetchMissedEvents, reconcilePayments } from '#core/accounts/billing/payment/reconcile.ts';
import { tick as tickOfScheduler } from '#core/scheduling/index.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { setClockAhead } from '#lib/clock.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { signUp, type Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import {
  EVERY,
  ago,
  ahead,
  changeCheckouts,
  changeCustomers,
  changeOrganizations,
  earlier,
  increasedBy,
} from '#test/support/given.ts';
import { customerOf, paidTest, priceOf, sessionsOf, storedAccess, subscribed } from './support.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = paidTest();

function depsOf({ deps }: Service) {
  const { database, payment } = deps;
  return { database, processor: payment.processor!, watch: payment.watch };
}

function tick(service: Service): Promise<number> {
  return reconcilePayments(depsOf(service), new AbortController().signal);
}

/** Counts the lists of subscriptions that the processor has sent. */
function listings({ requests }: PaymentProcessor): number {
  return requests.filter((name) => name === 'GET subscriptions').length;
}

/** Moves the stored times of a customer back by some hours. */
function letPass(service: Service, { organizationId }: Person, hours: number): Promise<void> {
  const past = earlier(`${hours} hours`);
  return changeCustomers(
    service.deps.database,
    { organizationId },
    { syncedAt: past, requestedAt: past, nextAttemptAt: past, leasedUntil: past },
  );
}

test.runIf(FULL_SIZE)(
  'with the processor away for three days, one tick makes good what was missed',
  async ({ service, processor, ada }) => {
    const { ledger, faults } = processor;
    const { subscription } = await subscribed({ service, processor }, ada, 'starter');
    await processor.send(ledger.emit('customer.subscription.created', subscription));
    expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'starter' });
    const away = (requests: number) =>
      faults.push(...Array.from({ length: requests }, () => ({ kind: { name: 'cut_after' as const } })));
    // One event arrives, but the list fails; the other events never arrive.
    away(3);
    expect(await processor.send(ledger.changePrice(subscription, priceOf('pro')))).toBe(200);
    expect(faults).toEqual([]);
    for (let day = 1; day <= 3; day += 1) {
      await letPass(service, ada, 24);
      ledger.advance(1);
      away(3);
      await tick(service);
      faults.length = 0;
      expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'starter' });
      // The service waits before it asks again.
      const before = listings(processor);
      await tick(service);
      expect(listings(processor)).toBe(before);
    }
    ledger.changePrice(subscription, priceOf('scale'));
    await letPass(service, ada, 1);
    await tick(service);
    expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'scale' });
    const counters = await service.deps.database.row`
    select sync_requested = sync_done as "inStep", attempts, next_attempt_at from billing_customers
    where organization_id = ${ada.organizationId}
  `;
    expect(counters).toEqual({ inStep: true, attempts: 0, next_attempt_at: null });
  },
);

test.for([
  ['who was looked at within six hours is not listed again', 0, 5.9, '1 day'],
  ['who was not looked at for six hours is listed again', 1, 6.1, '1 day'],
  ['whose period has ended since is listed again', 1, 1, '-30 minutes'],
  ['whose period had ended when they were looked at is not', 0, 0, '-30 minutes'],
] as const)('a customer %s', async ([_name, times, hours, periodEnd], { service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  await tick(service);
  const { database } = service.deps;
  const { organizationId } = ada;
  await changeCustomers(database, { organizationId }, { syncedAt: ago(`${hours} hours`) });
  await changeOrganizations(database, organizationId, { periodEnd: ahead(periodEnd) });
  // The checkout has expired, so it causes no further look.
  await changeCheckouts(database, EVERY, { closedAt: AT_ONCE });
  const before = listings(processor);
  await tick(service);
  expect(listings(processor) - before).toBe(times);
});

test('who pays just after a look, and whose event is lost, has access by the next tick', async ({
  service,
  processor,
  ada,
}) => {
  const { database } = service.deps;
  const customer = await customerOf(service, ada);
  await tick(service);
  const [session] = sessionsOf(processor, customer);
  processor.ledger.pay(session!);
  const sessionId = session!.id;
  await changeCheckouts(database, { sessionId }, { createdAt: ago('2 minutes') });
  // The service sees that the checkout has expired before the customer is due again.
  await tick(service);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: null });
  await tick(service);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'starter' });
});

test('a checkout that ran out while Stripe was away is closed only after a look at Stripe', async ({
  service,
  processor,
  ada,
}) => {
  const { database } = service.deps;
  const customer = await customerOf(service, ada);
  await tick(service);
  const [session] = sessionsOf(processor, customer);
  processor.ledger.pay(session!);
  await changeCheckouts(
    database,
    { sessionId: session!.id },
    { createdAt: ago('1 hour'), expiresAt: ago('25 minutes') },
  );
  await letPass(service, ada, 1);
  processor.faults.push(...Array.from({ length: 1_000 }, () => ({ kind: { name: 'unauthorized' as const } })));
  await tick(service);
  processor.faults.length = 0;
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: null });
  await letPass(service, ada, 1);
  await tick(service);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'starter' });
});

test('a customer who cannot be listed does not keep the others waiting', async ({ service, processor, ada }) => {
  const bob = await signUp(service);
  for (const person of [ada, bob]) {
    await subscribed({ service, processor }, person);
    const { organizationId } = person;
    await changeCustomers(service.deps.database, { organizationId }, { syncRequested: increasedBy(1) });
  }
  processor.faults.push(...[1, 2, 3].map(() => ({ of: 'GET subscriptions', kind: { name: 'cut_after' as const } })));
  await tick(service);
  expect(processor.faults).toEqual([]);
  const plans = await Promise.all([ada, bob].map((person) => storedAccess(service, person)));
  expect(new Set(plans.map((stored) => stored?.paid_plan))).toEqual(new Set(['pro', null]));
});

test('the tick of the scheduler keeps payments in step, and asks for events once an hour', async ({
  service,
  processor,
  ada,
}) => {
  await subscribed({ service, processor }, ada);
  const { organizationId } = ada;
  await changeCustomers(service.deps.database, { organizationId }, { syncRequested: increasedBy(1) });
  await tickOfScheduler(service.deps);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
  const asked = () => processor.requests.filter((name) => name === 'GET events').length;
  const before = asked();
  const signal = new AbortController().signal;
  try {
    for (let minute = 0; minute < 60; minute += 1) {
      // A false `Date` would not do: each minute the service corrects its own clock by the clock of Postgres.
      setClockAhead(Date.now() - Date.UTC(2030, 0, 1, 12, minute));
      await keepPaymentsInStep(service.deps, signal);
    }
  } finally {
    setClockAhead(0);
  }
  // A look makes one request for each page of two.
  const pages = asked() - before;
  const { events } = processor.ledger;
  expect(pages).toBe(Math.max(Math.ceil(events.length / 2), 1));
});

test('a payment of which no event ever arrived is found by the open checkout', async ({ service, processor, ada }) => {
  const customer = await customerOf(service, ada);
  const session = [...processor.ledger.sessions.values()].find((s) => s.customer === customer)!;
  processor.ledger.pay(session);
  const { organizationId } = ada;
  await changeCheckouts(service.deps.database, { organizationId }, { createdAt: ago('2 minutes') });
  await tick(service);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'starter' });
  const { rows } = await service.deps.database.query(
    'select closed_at from billing_checkouts where organization_id = $1',
    [ada.organizationId],
  );
  expect(rows).toEqual([{ closed_at: expect.any(Date) }]);
});

test('events that never arrived are fetched, once', async ({ service, processor, ada }) => {
  const { subscription } = await subscribed({ service, processor }, ada);
  processor.ledger.emit('customer.subscription.created', subscription);
  expect(await fetchMissedEvents(depsOf(service))).toBeGreaterThan(0);
  await tick(service);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
  expect(await fetchMissedEvents(depsOf(service))).toBe(0);
});
