import { expect } from 'vitest';
import { sql, type Sql } from '#lib/database/index.ts';
import { paidTest, storedAccess, subscribed } from './support.ts';
import { changeRateLimits, giveRole } from '#test/support/given.ts';

const test = paidTest();

const EMAIL = 'payer@canary-address.example';
const STREET = '1 Canary Street';
const PAYER = {
  email: EMAIL,
  name: 'Canary Payer',
  address: { line1: STREET, city: 'Canaryville', postal_code: 'CAN 4RY' },
  customer_email: EMAIL,
  customer_address: { line1: STREET },
  customer_details: { email: EMAIL, name: 'Canary Payer', address: { line1: STREET } },
  billing_details: { email: EMAIL, address: { line1: STREET } },
  receipt_email: EMAIL,
};

test('no e-mail or postal address of a payer is anywhere in our database', async ({ service, processor, ada }) => {
  const { ledger } = processor;
  const { customer, subscription } = await subscribed({ service, processor }, ada);
  // Every response of the processor and every event contains the payer.
  Object.assign(ledger.customers.get(customer)!, PAYER);
  Object.assign(subscription, PAYER);
  Object.assign(subscription.latest_invoice, PAYER);
  for (const session of ledger.sessions.values()) Object.assign(session, PAYER);
  for (const [kind, object] of [
    ['checkout.session.completed', { object: 'checkout.session', customer, ...PAYER }],
    ['customer.subscription.updated', subscription],
    ['invoice.paid', subscription.latest_invoice],
    ['invoice.payment_failed', { customer: ledger.customers.get(customer) }],
  ] as const) {
    expect(await processor.send(ledger.emit(kind, object))).toBe(200);
  }
  await ada.session.post('/v1/billing/checkout', { plan: 'scale', entrypoint: 'billing' });
  const { body } = await ada.session.get('/v1/billing?refresh=true');
  expect(body.data.plan).toBe('pro');
  expect(JSON.stringify(body)).not.toMatch(/canary/i);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });

  const { database } = service.deps;
  const tables = await database.rows<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
  `;
  expect(tables.length).toBeGreaterThan(40);
  let kept = 0;
  for (const { name } of tables) {
    const { rows: stored } = await database.query(`select t::text as row from ${name} t`);
    kept += stored.length;
    expect([name, JSON.stringify(stored)]).toEqual([name, expect.not.stringMatching(/canary/i)]);
  }
  expect(kept).toBeGreaterThan(10);
});

test('what a member reads of billing holds no id of the processor', async ({ service, processor, ada }) => {
  const { customer, subscription } = await subscribed({ service, processor }, ada);
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  await giveRole(service.deps.database, ada.organizationId, ada.userId, 'member');
  const { status, body } = await ada.session.get('/v1/billing');
  expect([status, body.data.isOwner]).toEqual([200, false]);
  const text = JSON.stringify(body);
  for (const id of [customer, subscription.id, subscription.items.data[0]!.id, 'price_pro']) {
    expect(text).not.toContain(id);
  }
  expect(text).not.toMatch(/"(?:cus|sub|si|in|price|prod|cs|bps)_/);
});

test('a member who asks the processor without end soon only reads', async ({ service, processor, ada }) => {
  await subscribed({ service, processor }, ada);
  const listings = () => processor.requests.filter((name) => name === 'GET subscriptions').length;
  const refresh = async () => {
    const before = listings();
    expect((await ada.session.get('/v1/billing?refresh=true')).status).toBe(200);
    return listings() - before;
  };
  expect(await refresh()).toBe(1);
  const refreshAfter = async (count: number) => {
    const refreshes = { credential: (rule: Sql) => sql`${rule} like 'billing-refresh:%'` };
    await changeRateLimits(service.deps.database, refreshes, { count });
    return refresh();
  };
  expect(await refreshAfter(59)).toBe(1);
  // The minute of the limit may end once in between.
  await expect.poll(() => refreshAfter(60)).toBe(0);
});
