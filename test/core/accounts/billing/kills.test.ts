import { expect } from 'vitest';
import { deliver } from '#dev/fakes/payments/delivery.ts';
import { itemOf } from '#dev/fakes/payments/ledger.ts';
import type { Subscription } from '#dev/fakes/payments/objects.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { fetchMissedEvents, reconcilePayments } from '#core/accounts/billing/payment/reconcile.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import type { Service } from '#test/support/service.ts';
import { startLifeline, type CutPoint } from './lifeline.ts';
import { paidTest, priceOf, subscribed } from './support.ts';
import { EVERY, ago, changeCustomers } from '#test/support/given.ts';

const test = paidTest();

interface World {
  readonly service: Service;
  readonly processor: PaymentProcessor;
}

/** Distance between two tested points, in messages. On each change, only every fifth point is tested. */
const APART = FULL_SIZE ? 1 : 5;

/** Cuts a process before and after every message to Postgres and to the processor, until no message is left. */
async function atEveryPoint(once: (point: CutPoint) => Promise<boolean>): Promise<number> {
  let points = 0;
  for (const [offset, when] of (['before', 'after'] as const).entries()) {
    for (let message = 1 + (offset % APART); await once({ message, when }); message += APART) {
      points += 1;
    }
  }
  return points;
}

/** Starts another API process that dies at the point during `work`. Returns whether it reached the point. */
async function dying(
  { service, processor }: World,
  person: Person,
  point: CutPoint,
  work: (url: string) => Promise<void>,
): Promise<boolean> {
  const database = new URL(service.databaseUrl);
  const lifeline = await startLifeline([database.host, new URL(processor.url).host]);
  const [databaseHost = '', processorHost = ''] = lifeline.addresses;
  database.host = databaseHost;
  const replica = await service.replica({
    DATABASE_URL: database.href,
    DATABASE_POOL_SIZE: '2',
    STRIPE_API_URL: `http://${processorHost}`,
  });
  try {
    // The process has worked before, so connections are open and statements prepared.
    expect((await person.session.at(replica.url).get('/v1/routines')).status).toBe(200);
    lifeline.cutAt(point);
    await work(replica.url);
    return lifeline.isCut;
  } finally {
    await lifeline.close();
    await replica.close();
  }
}

/** Lets leases and pauses expire, and runs a tick. */
async function recover({ service }: World): Promise<void> {
  const { database, payment } = service.deps;
  const deps = { database, processor: payment.processor!, watch: payment.watch };
  await changeCustomers(database, EVERY, {
    leasedUntil: ago('1 second'),
    checkoutLeasedUntil: ago('1 second'),
    nextAttemptAt: AT_ONCE,
  });
  await fetchMissedEvents(deps);
  await reconcilePayments(deps, new AbortController().signal);
}

/** Reads the stored access and subscriptions of an organization. */
function stored({ service }: World, { organizationId }: Person) {
  return service.deps.database.row`
    select paid_plan as plan, extract(epoch from paid_until)::int as until,
      extract(epoch from period_start)::int as "periodStart", extract(epoch from period_end)::int as "periodEnd",
      (select jsonb_agg(jsonb_build_array(id, status, price_id) order by id) from billing_subscriptions s
        where s.organization_id = o.id) as subscriptions
    from organizations o where id = ${organizationId}
  `;
}

/** Returns the same data in the form of `stored`, from the processor. */
function asPaid(subscription: Subscription) {
  const { id, status, cancel_at: end } = subscription;
  const { price, current_period_start: periodStart, current_period_end: periodEnd } = itemOf(subscription);
  return {
    plan: price.id.replace('price_', ''),
    until: end ?? periodEnd + 14 * 86_400,
    periodStart,
    periodEnd,
    subscriptions: [[id, status, price.id]],
  };
}

test('a process that dies between any two steps of an event leaves the old state or the new one, and the next tick the new one', async ({
  service,
  processor,
  ada,
}) => {
  const world = { service, processor };
  const { subscription } = await subscribed(world, ada, 'starter');
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  const seen = new Set<string>();
  const points = await atEveryPoint(async (point) => {
    const before = asPaid(subscription);
    const next = itemOf(subscription).price.id === 'price_starter' ? 'scale' : 'starter';
    const event = processor.ledger.changePrice(subscription, priceOf(next));
    const after = asPaid(subscription);
    expect(before).not.toEqual(after);
    let status = 0;
    const hasDied = await dying(world, ada, point, async (url) => {
      status = await deliver(event, { ...processor.endpoint, url: `${url}/webhooks/stripe` });
    });
    const left = await stored(world, ada);
    expect([before, after], JSON.stringify(point)).toContainEqual(left);
    seen.add(`${status === 200 ? 'accepted' : 'not accepted'}, ${left?.['plan'] === next}`);
    // The processor does not repeat an event that got a 200, so only the scheduler can recover.
    await recover(world);
    expect(await stored(world, ada), JSON.stringify(point)).toEqual(after);
    await processor.send(event);
    expect(await stored(world, ada), JSON.stringify(point)).toEqual(after);
    return hasDied;
  });
  expect(points).toBeGreaterThan(20 / APART);
  // The process died before the event was stored, before the sync was finished, and after the sync.
  expect(seen).toContain('not accepted, false');
  expect(seen).toContain('accepted, true');
  expect(seen).toContain('accepted, false');
});

test('a process that dies between any two steps of a checkout leaves one customer, one open checkout and one subscription', async ({
  service,
  processor,
}) => {
  const world = { service, processor };
  const { ledger } = processor;
  const body = { plan: 'pro', entrypoint: 'billing' };
  const points = await atEveryPoint(async (point) => {
    const person = await signUp(service);
    const hasDied = await dying(world, person, point, async (url) => {
      await person.session.at(url).post('/v1/billing/checkout', body);
    });
    await recover(world);
    const again = await person.session.post('/v1/billing/checkout', body);
    expect([again.status, again.data?.kind], JSON.stringify(point)).toEqual([200, 'checkout']);
    const customers = [...ledger.customers.values()].filter(
      ({ metadata }) => metadata['organization'] === person.organizationId,
    );
    expect(customers, JSON.stringify(point)).toHaveLength(1);
    const open = [...ledger.sessions.values()].filter(
      ({ customer, status }) => customer === customers[0]?.id && status === 'open',
    );
    expect(open, JSON.stringify(point)).toHaveLength(1);
    const subscription = ledger.pay(open[0]!);
    await recover(world);
    expect(await stored(world, person)).toEqual(asPaid(subscription));
    return hasDied;
  });
  expect(points).toBeGreaterThan(20 / APART);
});
