import { expect, test } from 'vitest';
import { decideAccess, readSubscription } from '#core/accounts/billing/payment/entitlement.ts';
import { DAY, Ledger } from '#dev/fakes/payments/ledger.ts';
import type { Subscription } from '#dev/fakes/payments/objects.ts';
import { proves } from '#test/support/proves.ts';
import { priceOf } from './support.ts';

const prices = {
  starter: ['price_starter'],
  pro: ['price_pro', 'price_pro_of_last_year'],
  scale: ['price_scale'],
} as const;
const rule = { prices, graceDays: 14 };
const ledger = new Ledger(() => undefined);
const now = ledger.now();

/** Makes a subscription as the processor returns it, with changes. A past due one has been past due for ten days. */
function given(changes: Partial<Subscription> = {}, plan: 'starter' | 'pro' | 'scale' = 'pro') {
  const made = { ...ledger.subscribe('cus_1', priceOf(plan), now - 10 * DAY), ...changes };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that are read are there
  return readSubscription(rule, made as never, new Date((now - 10 * DAY) * 1_000));
}

function daysFromNow(date: Date | null): number | undefined {
  return date === null ? undefined : Math.round((date.getTime() / 1_000 - now) / DAY);
}

test.each([
  ['active', {}, 20 + 14],
  ['trialing', {}, 20 + 14],
  ['active', { cancel_at: now + 5 * DAY }, 5],
  ['active', { cancel_at_period_end: true }, 20],
  ['past_due', {}, -10 + 14],
  ['past_due', { cancel_at: now + DAY }, 1],
  ['unpaid', {}, undefined],
  ['paused', {}, undefined],
  ['canceled', {}, undefined],
  ['incomplete', {}, undefined],
  ['incomplete_expired', {}, undefined],
  ['of_next_year', {}, undefined],
])('a subscription that is %s with %j entitles for so many days: %s', (status, changes, days) => {
  expect(daysFromNow(given({ status, ...changes }).entitledUntil)).toBe(days);
});

test('a former price of a plan is recognized, an unknown one entitles to nothing', () => {
  const [former, unknown] = ['price_pro_of_last_year', 'price_of_another_product'].map((id) => {
    const made = ledger.subscribe('cus_1', { ...priceOf('pro'), id });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return readSubscription(rule, made as never, undefined);
  });
  expect(former).toMatchObject({ plan: 'pro' });
  expect(unknown).toMatchObject({ plan: null, entitledUntil: null });
});

test('of several subscriptions the best plan counts while it lasts', proves('limit.prices'), () => {
  const at = new Date(now * 1_000);
  const starter = given({}, 'starter');
  const scale = given({ cancel_at: now + DAY }, 'scale');
  const ended = given({ status: 'canceled' }, 'scale');
  expect(decideAccess([starter, scale, ended], at)).toMatchObject({ plan: 'scale' });
  const later = new Date(at.getTime() + 2 * DAY * 1_000);
  expect(decideAccess([starter, scale, ended], later)).toMatchObject({ plan: 'starter' });
  expect(decideAccess([ended], at)).toBeUndefined();
  expect([starter, scale].map(({ priceCents }) => priceCents)).toEqual([1_000, 9_900]);
});
