import { expect } from 'vitest';
import { reconcilePayments } from '#core/accounts/billing/payment/reconcile.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { changeCheckouts, changeCustomers, earlier } from '#test/support/given.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { customerOf, growth, paidTest, sessionsOf, storedAccess, subscribed } from './support.ts';

const test = paidTest();

const PRO = { plan: 'pro', entrypoint: 'billing' };

/** Removes a customer with their subscriptions from the processor, as if another account had been configured. */
function forget({ ledger }: PaymentProcessor, customer: string): void {
  ledger.customers.delete(customer);
  for (const { id } of [...ledger.subscriptions.values()].filter((each) => each.customer === customer)) {
    ledger.subscriptions.delete(id);
  }
  for (const { id } of [...ledger.sessions.values()].filter((each) => each.customer === customer)) {
    ledger.sessions.delete(id);
  }
}

/** Makes a customer due for a look, and reconciles payments. */
async function reconcile({ deps: { database, payment } }: Service, { organizationId }: Person): Promise<void> {
  await changeCustomers(database, { organizationId }, { syncedAt: earlier('7 hours') });
  const deps = { database, processor: payment.processor!, watch: payment.watch };
  await reconcilePayments(deps, new AbortController().signal);
}

test.for(['deleted at the processor', 'unknown to another account'])(
  'a customer who is %s gets another one at the next checkout, and pays there',
  async (how, { service, processor, ada }) => {
    const customer = await customerOf(service, ada);
    if (how.startsWith('deleted')) processor.ledger.deleteCustomer(processor.ledger.customers.get(customer)!);
    else forget(processor, customer);
    let data: { url: string; kind: string } | undefined;
    const grown = await growth(service, 'customer_gone', async () => {
      ({ data } = await ada.session.post('/v1/billing/checkout', PRO));
    });
    expect(data?.kind).toBe('checkout');
    expect(grown).toBeGreaterThan(0);
    const session = processor.ledger.sessions.get(data!.url.split('/').at(-1)!)!;
    expect(session.customer).not.toBe(customer);
    processor.ledger.pay(session);
    await processor.send(processor.ledger.events.at(-1)!);
    expect((await ada.session.get('/v1/billing')).data).toMatchObject({ plan: 'pro', status: 'active' });
    expect((await ada.session.post('/v1/billing/portal')).status).toBe(200);
  },
);

test('a customer who is deleted while a checkout of theirs is open is not sent there again', async ({
  processor,
  ada,
}) => {
  const first = await ada.session.post('/v1/billing/checkout', PRO);
  const dead = processor.ledger.sessions.get(first.data.url.split('/').at(-1))!;
  processor.ledger.deleteCustomer(processor.ledger.customers.get(dead.customer)!);
  const again = await Promise.all([1, 2, 3].map(() => ada.session.post('/v1/billing/checkout', PRO)));
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
  const urls = new Set(again.map(({ data }) => data.url));
  expect([urls.size, urls.has(first.data.url)]).toEqual([1, false]);
  expect(dead.status).toBe('expired');
  const fresh = processor.ledger.sessions.get([...urls][0].split('/').at(-1))!.customer;
  expect(sessionsOf(processor, fresh)).toHaveLength(1);
});

test('the portal of a customer who is gone says that there is no subscription', async ({ service, processor, ada }) => {
  const { customer } = await subscribed({ service, processor }, ada);
  processor.ledger.deleteCustomer(processor.ledger.customers.get(customer)!);
  const grown = await growth(service, 'customer_gone', async () => {
    const { status, body } = await ada.session.post('/v1/billing/portal');
    expect([status, body.error.code]).toEqual([409, 'billing_account_missing']);
    expect(body.error.message).toMatch(/^There is no subscription/);
  });
  expect(grown).toBe(1);
});

test('a customer who is refused and has a live subscription is not given a second one', async ({
  service,
  processor,
  ada,
}) => {
  const { customer } = await subscribed({ service, processor }, ada);
  // The portal refuses the customer, but the list of subscriptions still has them.
  const body = { error: { type: 'invalid_request_error', code: 'resource_missing', param: 'customer', message: 'No' } };
  processor.faults.push({ of: 'POST billing_portal', kind: { name: 'refused', status: 400, body } });
  const { status } = await ada.session.post('/v1/billing/checkout', PRO);
  expect(status).toBe(502);
  expect(await customerOf(service, ada)).toBe(customer);
});

test('access ends with a customer who was deleted, and stays as it was with one whom another account does not know', async ({
  service,
  processor,
  ada,
}) => {
  const { customer, subscription } = await subscribed({ service, processor }, ada);
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  const before = await storedAccess(service, ada);
  forget(processor, customer);
  await reconcile(service, ada);
  expect(await storedAccess(service, ada)).toEqual(before);
  // A person who opens a checkout in the meantime keeps the plan that is paid for.
  await ada.session.post('/v1/billing/checkout', PRO);
  await reconcile(service, ada);
  expect(await storedAccess(service, ada)).toEqual(before);
  const inStep = await service.deps.database.row`
    select sync_requested = sync_done as "inStep" from billing_customers
    where organization_id = ${ada.organizationId}
  `;
  expect(inStep).toEqual({ inStep: true });

  const { subscription: next, customer: fresh } = await subscribed({ service, processor }, ada, 'scale');
  await processor.send(processor.ledger.emit('customer.subscription.created', next));
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'scale' });
  processor.ledger.deleteCustomer(processor.ledger.customers.get(fresh)!);
  await reconcile(service, ada);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
});

test('checkouts of a customer who is gone are closed when they are over', async ({ service, processor, ada }) => {
  forget(processor, await customerOf(service, ada));
  const { organizationId } = ada;
  await changeCheckouts(
    service.deps.database,
    { organizationId },
    { createdAt: earlier('1 hour'), expiresAt: earlier('1 hour') },
  );
  await reconcile(service, ada);
  const open = await service.deps.database.rows`
    select from billing_checkouts where organization_id = ${organizationId} and closed_at is null
  `;
  expect(open).toEqual([]);
});
