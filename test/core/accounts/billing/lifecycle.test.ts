import { expect } from 'vitest';
import { DAY } from '#dev/fakes/payments/ledger.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine } from '#test/support/routines.ts';
import { customerOf, paidTest, priceOf, storedAccess, subscribed } from './support.ts';
import { ahead, changePeriodRuns, changeRoutines, plantRun } from '#test/support/given.ts';

const test = paidTest();

/** Sends all events but the first ones. */
async function sendSince(processor: PaymentProcessor, from: number): Promise<void> {
  for (const event of processor.ledger.events.slice(from)) await processor.send(event);
}

test(
  'pay, upgrade, fail, recover, cancel: the plan follows, and keys write while it allows',
  proves('402 plan or billing'),
  async ({ service, processor, ada }) => {
    const { ledger } = processor;
    const key = await ada.key();
    expect((await key.post('/v1/skills', SKILL)).body.error.code).toBe('plan_write_required');
    const customer = await customerOf(service, ada);
    const session = [...ledger.sessions.values()].find((s) => s.customer === customer)!;
    let from = ledger.events.length;
    const subscription = ledger.pay(session, { free: true });
    await sendSince(processor, from);
    expect((await ada.session.get('/v1/billing')).data).toMatchObject({
      plan: 'starter',
      status: 'active',
      period: { kind: 'subscription' },
    });

    from = ledger.events.length;
    ledger.changePrice(subscription, priceOf('pro'));
    await sendSince(processor, from);
    expect((await key.post('/v1/skills', SKILL)).status).toBe(201);

    from = ledger.events.length;
    ledger.payments.set(customer, 'fail');
    ledger.advance(31);
    await sendSince(processor, from);
    const { data: late } = await ada.session.get('/v1/billing');
    expect(late).toMatchObject({
      plan: 'pro',
      status: 'past_due',
      attention: { code: 'payment_failed' },
    });
    // The processor's clock is ahead. The grace counts from the time at which this service saw the failed payment.
    const graceDays = (Date.parse(late.attention.until) - Date.now()) / 1_000 / DAY;
    expect(graceDays).toBeCloseTo(14, 1);

    from = ledger.events.length;
    ledger.advance(4);
    await sendSince(processor, from);
    const { data: retried } = await ada.session.get('/v1/billing');
    expect(retried.attention.until).toBe(late.attention.until);

    from = ledger.events.length;
    ledger.payments.set(customer, 'succeed');
    ledger.advance(5);
    await sendSince(processor, from);
    expect((await ada.session.get('/v1/billing')).data).toMatchObject({
      status: 'active',
      attention: null,
    });

    from = ledger.events.length;
    ledger.cancelAtEnd(subscription);
    await sendSince(processor, from);
    const { data: leaving } = await ada.session.get('/v1/billing');
    expect(leaving).toMatchObject({ plan: 'pro', subscription: { cancelsAt: expect.any(String) } });
    expect(await storedAccess(service, ada)).toMatchObject({
      paid_until: new Date(leaving.subscription.cancelsAt),
    });

    from = ledger.events.length;
    ledger.advance(40);
    await sendSince(processor, from);
    expect((await ada.session.get('/v1/billing')).data).toMatchObject({
      plan: 'free',
      status: 'canceled',
    });
    expect((await key.post('/v1/skills', SKILL)).body.error.code).toBe('plan_write_required');
    const audit = `/v1/audit-events?organizationId=${ada.organizationId}&action=plan.changed`;
    const { data: changes } = await ada.session.get(audit);
    expect(
      changes.map(({ actor, details }: { actor: { kind: string }; details: object }) => [actor.kind, details]),
    ).toEqual([
      ['system', { from: 'pro', to: 'free' }],
      ['system', { from: 'starter', to: 'pro' }],
      ['system', { from: 'free', to: 'starter' }],
    ]);
  },
);

test('runs are counted by the period of the subscription, and an upgrade keeps the count', async ({
  service,
  processor,
  ada,
}) => {
  const routineId = await createRoutine(ada.session);
  await ada.session.post(`/v1/routines/${routineId}/run`);
  expect((await ada.session.get('/v1/billing')).data.usage).toMatchObject({ runs: 1 });
  const { subscription } = await subscribed({ service, processor }, ada, 'starter');
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  expect((await ada.session.get('/v1/billing')).data.usage).toMatchObject({ runs: 0 });
  await ada.session.post(`/v1/routines/${routineId}/run`);
  const from = processor.ledger.events.length;
  processor.ledger.changePrice(subscription, priceOf('scale'));
  await sendSince(processor, from);
  expect((await ada.session.get('/v1/billing')).data).toMatchObject({
    plan: 'scale',
    usage: { runs: 1 },
    allowances: { runs: 200_000 },
  });
});

test('the error of a used-up allowance names the plan, the limit and the end of the period', async ({
  service,
  ada,
}) => {
  const routineId = await createRoutine(ada.session);
  await ada.session.post(`/v1/routines/${routineId}/run`);
  const { organizationId } = ada;
  await changePeriodRuns(service.deps.database, { organizationId }, { runs: 100 });
  const { status, body } = await ada.session.post(`/v1/routines/${routineId}/run`);
  expect([status, body.error.code]).toEqual([402, 'allowance_exceeded']);
  expect(body.error.message).toMatch(/free plan allows 100 runs .* begins at \d{4}-\d\d-01T00:00:00/);
});

test('a renewal that the bank wants to be confirmed is told as such, and the plan waits for it', async ({
  service,
  processor,
  ada,
}) => {
  const { ledger } = processor;
  const { subscription, customer } = await subscribed({ service, processor }, ada, 'pro');
  const from = ledger.events.length;
  ledger.payments.set(customer, 'ask');
  ledger.advance(31);
  expect(ledger.events.slice(from).map(({ type }) => type)).toContain('invoice.payment_action_required');
  await sendSince(processor, from);
  expect(subscription.status).toBe('past_due');
  expect((await ada.session.get('/v1/billing')).data).toMatchObject({ status: 'past_due' });
});

test('after a downgrade what is active stays, and more activations are refused', async ({
  service,
  processor,
  ada,
}) => {
  const { subscription } = await subscribed({ service, processor }, ada, 'starter');
  await processor.send(processor.ledger.emit('customer.subscription.created', subscription));
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) ids.push(await createRoutine(ada.session));
  await changeRoutines(service.deps.database, ids, { state: 'active', nextRunAt: ahead('1 day') });
  subscription.status = 'canceled';
  await processor.send(processor.ledger.emit('customer.subscription.deleted', subscription));
  const { data } = await ada.session.get('/v1/billing');
  expect(data).toMatchObject({
    plan: 'free',
    usage: { activeRoutines: 3 },
    allowances: { activeRoutines: 2 },
  });
  const another = await createRoutine(ada.session);
  await plantRun(service.deps.database, another, { state: 'succeeded', finishedAt: new Date() });
  const refused = await ada.session.post(`/v1/routines/${another}/activate`);
  expect([refused.status, refused.body.error.code]).toEqual([402, 'allowance_exceeded']);
  expect(refused.body.error.message).toMatch(
    /^The free plan, whose period ends at \d{4}-\d\d-01T00:00:00.*, allows 2 active routines/,
  );
});

const SKILL = {
  name: 'House style',
  instructions: 'Write short sentences and prefer plain words over long ones.',
};
