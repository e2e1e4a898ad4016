import { expect } from 'vitest';
import { signInAgain, signUp, type Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { customerOf, paidTest, sessionsOf, subscribed } from './support.ts';
import { ago, changeCustomers, giveRole } from '#test/support/given.ts';

const test = paidTest();

const PRO = { plan: 'pro', entrypoint: 'pricing' };

/** Returns the id of the checkout or portal in the address of a response. */
function idIn(url: string): string {
  return url.split('/').at(-1)!;
}

/** Signs up a second owner of the organization. */
async function anotherOwner(service: Service, owner: Person) {
  const grace = await signUp(service);
  await giveRole(service.deps.database, owner.organizationId, grace.userId, 'owner');
  return grace.session.with({ 'X-Project-Id': owner.projectId });
}

test('two owners with two tabs each get one open checkout, and paying it makes one subscription', async ({
  service,
  processor,
  ada,
}) => {
  const grace = await anotherOwner(service, ada);
  const clients = [ada.session, await signInAgain(service, ada), grace, grace];
  const responses = await Promise.all(
    clients.flatMap((client) => [client.post('/v1/billing/checkout', PRO), client.post('/v1/billing/checkout', PRO)]),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const urls = new Set(responses.map(({ data }) => data.url));
  expect(urls.size).toBe(1);
  const session = processor.ledger.sessions.get(idIn([...urls][0]))!;
  expect(sessionsOf(processor, session.customer)).toEqual([session]);
  processor.ledger.pay(session);
  // The service has not seen the payment yet.
  const again = await Promise.all(
    clients.map((client) => client.post('/v1/billing/checkout', { ...PRO, plan: 'scale' })),
  );
  expect(again.map(({ data }) => data.kind)).toEqual(clients.map(() => 'portal'));
  const own = [...processor.ledger.subscriptions.values()].filter(({ customer }) => customer === session.customer);
  expect(own).toHaveLength(1);
});

test('a customer who asks for two plans at once has one open checkout in the end', async ({
  service,
  processor,
  ada,
}) => {
  const plans = ['starter', 'pro', 'scale', 'starter', 'pro', 'scale'];
  const responses = await Promise.all(plans.map((plan) => ada.session.post('/v1/billing/checkout', { ...PRO, plan })));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const sessions = sessionsOf(processor, await customerOf(service, ada));
  expect(sessions.filter(({ status }) => status === 'open')).toHaveLength(1);
});

test('a request that outlasts its turn leaves one open checkout all the same', async ({ service, processor, ada }) => {
  const { database } = service.deps;
  const customer = await customerOf(service, ada);
  const held = Promise.withResolvers<void>();
  processor.faults.push({
    of: 'POST checkout/sessions',
    kind: { name: 'hold', until: held.promise },
  });
  const slow = ada.session.post('/v1/billing/checkout', PRO);
  await expect.poll(() => processor.faults).toEqual([]);
  const { organizationId } = ada;
  await changeCustomers(database, { organizationId }, { checkoutLeasedUntil: ago('1 second') });
  const next = await ada.session.post('/v1/billing/checkout', PRO);
  expect([next.status, next.data.kind]).toEqual([200, 'checkout']);
  held.resolve();
  const late = await slow;
  expect([late.status, late.body.error.code]).toEqual([503, 'service_unavailable']);
  const open = sessionsOf(processor, customer).filter(({ status }) => status === 'open');
  expect(open.map(({ id }) => id)).toEqual([idIn(next.data.url)]);
});

test('an open checkout is given out again while more than ten minutes of it are left', async ({ processor, ada }) => {
  const begin = async () => {
    const { data } = await ada.session.post('/v1/billing/checkout', PRO);
    return processor.ledger.sessions.get(idIn(data.url))!;
  };
  const first = await begin();
  const left = first.expires_at - Math.floor(Date.now() / 1_000);
  expect(Math.abs(left - 35 * 60)).toBeLessThan(60);
  processor.ledger.sessions.set(first.id, { ...first, expires_at: first.expires_at - 23 * 60 });
  expect((await begin()).id).toBe(first.id);
  processor.ledger.sessions.set(first.id, { ...first, expires_at: first.expires_at - 26 * 60 });
  const second = await begin();
  expect(second.id).not.toBe(first.id);
  expect(processor.ledger.sessions.get(first.id)!.status).toBe('expired');
});

test('another plan expires the open checkout of the first', async ({ processor, ada }) => {
  const first = await ada.session.post('/v1/billing/checkout', PRO);
  const second = await ada.session.post('/v1/billing/checkout', { ...PRO, plan: 'scale' });
  const stateOf = (url: string) => processor.ledger.sessions.get(idIn(url))!.status;
  expect([stateOf(first.data.url), stateOf(second.data.url)]).toEqual(['expired', 'open']);
});

test.for([
  ['active', 'portal', 'price_pro'],
  ['trialing', 'portal', 'price_pro'],
  ['past_due', 'portal', undefined],
  ['unpaid', 'portal', undefined],
  ['paused', 'portal', undefined],
  ['incomplete', 'checkout', undefined],
  ['incomplete_expired', 'checkout', undefined],
  ['canceled', 'checkout', undefined],
] as const)(
  'a subscription that is %s leads to the %s, there to confirm %s',
  async ([status, kind, wanted], { service, processor, ada }) => {
    const { subscription } = await subscribed({ service, processor }, ada, 'starter');
    subscription.status = status;
    const { data } = await ada.session.post('/v1/billing/checkout', PRO);
    expect(data.kind).toBe(kind);
    expect(processor.ledger.portals.get(idIn(data.url))?.wanted).toBe(wanted);
  },
);

test('a customer who has the plan already is led to the portal with nothing to confirm', async ({
  service,
  processor,
  ada,
}) => {
  await subscribed({ service, processor }, ada, 'pro');
  const { data } = await ada.session.post('/v1/billing/checkout', PRO);
  expect(data.kind).toBe('portal');
  expect(processor.ledger.portals.get(idIn(data.url))).toMatchObject({ wanted: undefined });
});

test.for([
  ['billing', '/settings/billing'],
  ['pricing', '/pricing'],
  ['routines', '/routines'],
  ['runs', '/runs'],
  ['no-such-place', '/settings/billing'],
  ['constructor', '/settings/billing'],
] as const)('a checkout from %s leads back to %s', async ([entrypoint, path], { service, processor, ada }) => {
  const { data } = await ada.session.post('/v1/billing/checkout', { plan: 'pro', entrypoint });
  const session = processor.ledger.sessions.get(idIn(data.url))!;
  const { UI_ORIGIN: origin } = service.config;
  expect([session.success_url, session.cancel_url]).toEqual([
    `${origin}${path}?checkout=done`,
    `${origin}${path}?checkout=cancelled`,
  ]);
});

test.for([
  ['false', { enabled: 'false' }, 'auto'],
  ['true', { enabled: 'true' }, 'required'],
] as const)(
  'where AUTOMATIC_TAX_ENABLED is %s, tax and tax ids are asked for accordingly',
  async ([value, enabled, address], { service, processor, ada }) => {
    const replica = await service.replica({ AUTOMATIC_TAX_ENABLED: value });
    try {
      const { data } = await ada.session.at(replica.url).post('/v1/billing/checkout', PRO);
      const { form } = processor.ledger.sessions.get(idIn(data.url))!;
      expect(form).toMatchObject({
        automatic_tax: enabled,
        tax_id_collection: enabled,
        billing_address_collection: address,
        customer_update: { address: 'auto', name: 'auto' },
        allow_promotion_codes: 'true',
        adaptive_pricing: { enabled: 'false' },
      });
    } finally {
      await replica.close();
    }
  },
);

test.for([
  ['COMMERCIAL_ACQUISITION_ENABLED', 'CHECKOUT_ENABLED'],
  ['CHECKOUT_ENABLED', 'COMMERCIAL_ACQUISITION_ENABLED'],
])('without %s no checkout is begun, %s notwithstanding', async ([off, on], { service, ada }) => {
  const replica = await service.replica({ [off!]: 'false', [on!]: 'true' });
  try {
    const client = ada.session.at(replica.url);
    const { status, body } = await client.post('/v1/billing/checkout', PRO);
    expect([status, body.error.code]).toEqual([403, 'checkout_disabled']);
    expect(body.error.message).toContain(off);
    const { data } = await client.get('/v1/billing');
    expect(data.checkout).toEqual({ available: false, reason: expect.stringContaining(off!) });
  } finally {
    await replica.close();
  }
});
