import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { beginCheckout } from '#core/accounts/billing/index.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { proves } from '#test/support/proves.ts';
import { signUp } from '#test/support/people.ts';
import { startService } from '#test/support/service.ts';
import { customerOf, paidTest, storedAccess, subscribed } from './support.ts';
import { giveRole } from '#test/support/given.ts';

const test = paidTest();

const PRO = { plan: 'pro', entrypoint: 'pricing' };

test(
  'a checkout has the price of the plan, our addresses and the promotion codes, and grants nothing',
  proves('POST /v1/billing/checkout'),
  async ({ service, processor, ada }) => {
    const { status, data } = await ada.session.post('/v1/billing/checkout', PRO);
    expect([status, data.kind]).toEqual([200, 'checkout']);
    const session = processor.ledger.sessions.get(data.url.split('/').at(-1));
    expect(session).toMatchObject({
      price: 'price_pro',
      success_url: `${service.config.UI_ORIGIN}/pricing?checkout=done`,
      cancel_url: `${service.config.UI_ORIGIN}/pricing?checkout=cancelled`,
      form: {
        allow_promotion_codes: 'true',
        customer_update: { address: 'auto', name: 'auto' },
        automatic_tax: { enabled: 'false' },
      },
    });
    // The browser returns from the success address without a payment.
    const { data: billing } = await ada.session.get('/v1/billing?refresh=true');
    expect(billing).toMatchObject({
      plan: 'free',
      source: 'none',
      subscription: null,
      isOwner: true,
    });
    expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: null });
  },
);

test('a subscriber is led to the confirmation of the wanted price', async ({ service, processor, ada }) => {
  await subscribed({ service, processor }, ada, 'starter');
  const { data } = await ada.session.post('/v1/billing/checkout', { ...PRO, plan: 'scale' });
  const portal = processor.ledger.portals.get(data.url.split('/').at(-1));
  expect(portal).toMatchObject({ wanted: 'price_scale' });
  expect(portal?.back).toBe(`${service.config.UI_ORIGIN}/pricing`);
});

test(
  'only owners, only sessions, only our origin, and no ids or addresses of the caller',
  proves('POST /v1/billing/portal'),
  async ({ service, ada }) => {
    const key = await ada.key();
    const elsewhere = ada.session.with({ Origin: 'https://evil.example' });
    for (const path of ['/v1/billing/checkout', '/v1/billing/portal']) {
      const body = path.endsWith('portal') ? {} : PRO;
      expect((await key.post(path, body)).body.error.code).toBe('session_required');
      expect((await elsewhere.post(path, body)).body.error.code).toBe('origin_not_allowed');
    }
    for (const more of [
      { customer: 'cus_1' },
      { price: 'price_1' },
      { successUrl: 'https://evil.example' },
      { success_url: 'https://evil.example' },
    ]) {
      const { status, body } = await ada.session.post('/v1/billing/checkout', { ...PRO, ...more });
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    }
    const strange = await ada.session.post('/v1/billing/checkout', {
      ...PRO,
      entrypoint: '//evil',
    });
    expect(strange.status).toBe(400);
    await giveRole(service.deps.database, ada.organizationId, ada.userId, 'admin');
    const refused = await ada.session.post('/v1/billing/checkout', PRO);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'owner_required']);
    expect((await ada.session.get('/v1/billing')).data.isOwner).toBe(false);
  },
);

test('the portal is for customers, with any setting of the switches', async ({ service, processor, ada }) => {
  const missing = await ada.session.post('/v1/billing/portal');
  expect([missing.status, missing.body.error.code]).toEqual([409, 'billing_account_missing']);
  await customerOf(service, ada);
  const quiet = await service.replica({
    COMMERCIAL_ACQUISITION_ENABLED: 'false',
    CHECKOUT_ENABLED: 'false',
  });
  try {
    const there = {
      headers: { ...ada.session.headers, 'Content-Type': 'application/json' },
      method: 'POST',
    };
    const portal = await fetch(`${quiet.url}/v1/billing/portal`, { ...there, body: '{}' });
    expect(portal.status).toBe(200);
    const checkout = await fetch(`${quiet.url}/v1/billing/checkout`, {
      ...there,
      body: JSON.stringify(PRO),
    });
    expect(checkout.status).toBe(403);
    expect(await checkout.json()).toMatchObject({
      error: {
        code: 'checkout_disabled',
        message: expect.stringContaining('COMMERCIAL_ACQUISITION_ENABLED'),
      },
    });
  } finally {
    await quiet.close();
  }
  expect(processor.ledger.portals.size).toBeGreaterThan(0);
});

test('without a processor there is nothing to buy, and reading says so', proves('GET /v1/billing'), async () => {
  const service = await startService();
  try {
    const person = await signUp(service);
    const { data } = await person.session.get('/v1/billing');
    expect(data).toMatchObject({
      plan: 'scale',
      source: 'self_hosted',
      checkout: { available: false },
      portal: { available: false },
      period: { kind: 'month' },
    });
    const refused = await person.session.post('/v1/billing/checkout', PRO);
    expect(refused.body.error.code).toBe('checkout_disabled');
  } finally {
    await service.close();
  }
});

test('a response that is lost leaves one customer and one open checkout', async ({ service, processor, ada }) => {
  const before = processor.ledger.customers.size;
  processor.faults.push({ of: 'POST customers', kind: { name: 'cut_after' } });
  processor.faults.push({ of: 'POST checkout/sessions', kind: { name: 'cut_after' } });
  const { status } = await ada.session.post('/v1/billing/checkout', PRO);
  expect(status).toBe(200);
  expect(processor.ledger.customers.size).toBe(before + 1);
  const customer = await customerOf(service, ada);
  const open = [...processor.ledger.sessions.values()].filter(
    (session) => session.customer === customer && session.status === 'open',
  );
  expect(open).toHaveLength(1);
});

test.for([-3_600_000, 3_600_000])(
  'a clock that is %s ms wrong opens a checkout of 35 minutes',
  async (wrong, { service, processor, ada }) => {
    await customerOf(service, ada);
    const rightNow = Date.now.bind(Date);
    const release = Promise.withResolvers<void>();
    // The processor reads the clock only after the service's clock is right again.
    processor.faults.push({ of: 'POST checkout/sessions', kind: { name: 'hold', until: release.promise } });
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => rightNow() + wrong);
    const { organizationId, userId } = ada;
    const { database, payment } = service.deps;
    const input = { organizationId, userId, plan: 'scale', entrypoint: 'billing' } as const;
    const opening = beginCheckout({ database, ...payment }, input);
    await Promise.race([opening.catch(() => undefined), untilAsked(processor)]);
    clock.mockRestore();
    release.resolve();
    const { url } = await opening;
    const session = processor.ledger.sessions.get(url.split('/').at(-1)!)!;
    expect(Math.round((session.expires_at - Date.now() / 1_000) / 60)).toBe(35);
  },
);

async function untilAsked({ faults }: PaymentProcessor): Promise<void> {
  while (faults.length > 0) await sleep(20);
}
