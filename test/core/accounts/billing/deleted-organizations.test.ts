import { expect } from 'vitest';
import { reconcilePayments } from '#core/accounts/billing/payment/reconcile.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import type { Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { customerOf, paidTest, sessionsOf } from './support.ts';
import { changeCheckouts, changeCustomers, earlier, plantCheckout } from '#test/support/given.ts';

const test = paidTest();

function tick({ deps }: Service): Promise<number> {
  const { database, payment } = deps;
  const { processor, watch } = payment;
  const signal = new AbortController().signal;
  return reconcilePayments({ database, processor: processor!, watch }, signal);
}

async function deleteOrganization({ session, organizationId }: Person): Promise<void> {
  const { data } = await session.get('/v1/organizations');
  const { name } = data.find(({ id }: { id: string }) => id === organizationId);
  const confirm = encodeURIComponent(name);
  const deleted = await session.delete(`/v1/organizations/${organizationId}?confirm=${confirm}`);
  expect(deleted.status).toBe(200);
}

function statesOf(processor: PaymentProcessor, customer: string): string[] {
  return sessionsOf(processor, customer).map(({ status }) => status);
}

/** Moves the stored times of the organization's payments back by some minutes. */
async function letPass({ deps: { database } }: Service, { organizationId }: Person, minutes: number) {
  const past = earlier(`${minutes} minutes`);
  await changeCustomers(database, { organizationId }, { syncedAt: past, nextAttemptAt: past });
  await changeCheckouts(database, { organizationId }, { createdAt: past });
}

test('the checkout that was open when an organization was deleted is expired by the next tick', async ({
  service,
  processor,
  ada,
}) => {
  const customer = await customerOf(service, ada);
  await tick(service);
  const asked = processor.requests.length;
  await deleteOrganization(ada);
  // The deletion does not wait for the processor; the request to it is stored.
  expect(processor.requests.length).toBe(asked);
  expect(statesOf(processor, customer)).toEqual(['open']);
  await tick(service);
  expect(statesOf(processor, customer)).toEqual(['expired']);
});

test('the processor may be away for as long as it likes: the checkout is expired once it is there again', async ({
  service,
  processor,
  ada,
}) => {
  const customer = await customerOf(service, ada);
  await tick(service);
  await deleteOrganization(ada);
  const of = 'GET checkout/sessions';
  processor.faults.push(...[1, 2, 3].map(() => ({ of, kind: { name: 'cut_after' as const } })));
  await tick(service);
  expect(processor.faults).toEqual([]);
  expect(statesOf(processor, customer)).toEqual(['open']);
  const open = await service.deps.database.row`
    select sync_requested > sync_done as "isRequested" from billing_customers
    where organization_id = ${ada.organizationId}
  `;
  expect(open).toEqual({ isRequested: true });
  await letPass(service, ada, 60);
  await tick(service);
  expect(statesOf(processor, customer)).toEqual(['expired']);
});

test('a checkout that was being begun while its organization was deleted is expired too', async ({
  service,
  processor,
  ada,
}) => {
  const { database } = service.deps;
  const customer = await customerOf(service, ada);
  await deleteOrganization(ada);
  await tick(service);
  const [first] = sessionsOf(processor, customer);
  // A request that had not finished would leave this session.
  const late = { ...first!, id: 'cs_late', status: 'open' as const };
  processor.ledger.sessions.set(late.id, late);
  await plantCheckout(database, ada.organizationId, late.id);
  await letPass(service, ada, 2);
  await tick(service);
  expect(statesOf(processor, customer)).toEqual(['expired', 'expired']);
});

test('the checkout of an organization that is there stays open', async ({ service, processor, ada }) => {
  const customer = await customerOf(service, ada);
  await letPass(service, ada, 2);
  await tick(service);
  expect(statesOf(processor, customer)).toEqual(['open']);
});
