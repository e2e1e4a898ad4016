import type { Page } from 'playwright-core';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, holding, photograph } from '../support/photograph.ts';
import { sample, type Changes } from '../support/sample.ts';
import type { Shape } from '../../../ui/src/api/types.ts';

const test = pageTest();

type Billing = Changes<Shape<'Billing'>>;

const allowances = { activeRoutines: 5, apiWrites: true, runs: 500, runsAtATime: 2 };
const PLANS = (['free', 'starter', 'pro', 'scale'] as const).map((plan, nth) => ({
  plan,
  allowances,
  priceCents: 2900 * nth,
  currency: 'usd' as const,
}));
const SUBSCRIBED: Billing = {
  plan: 'pro',
  source: 'subscription',
  status: 'active',
  portal: { available: true },
  subscription: {
    cancelsAt: null,
    currency: 'usd',
    interval: 'month',
    plan: 'pro',
    priceCents: 5800,
    startedAt: ago(90_000),
  },
};

function serves(changes: Billing) {
  const period = { kind: 'month', start: ago(9_000), end: ago(-9_000) } as const;
  const usage = { activeRoutines: 2, runs: 137 };
  const common: Billing = { isOwner: true, source: 'none', plan: 'free', plans: PLANS, allowances, usage, period };
  return [
    ...FRAME,
    answer('get', '/public/config', sample('PublicConfig', { commercialAcquisition: true })),
    answer('get', '/v1/billing', sample('Billing', { ...common, ...changes })),
  ];
}

function says(text: string | RegExp) {
  return (page: Page) => page.getByText(text).first().waitFor();
}

test('the page of billing in all its states', async ({ api, visit }) => {
  const path = `${AT}/billing`;
  const done = `${path}?checkout=done`;
  const state = (name: string, changes: Billing, text: string | RegExp) => ({
    name,
    path,
    act: says(text),
    before: () => api.serve(...serves(changes)),
  });
  await photograph(visit, 'billing', [
    state('free', {}, 'Your plan'),
    state('subscribed', SUBSCRIBED, /\$58/),
    state(
      'past-due',
      { ...SUBSCRIBED, status: 'past_due', attention: { code: 'payment_failed', until: ago(-9_000) } },
      'lasts until',
    ),
    state('member', { ...SUBSCRIBED, isOwner: false }, 'Only owners'),
    {
      ...state(
        'ending',
        { ...SUBSCRIBED, subscription: { ...SUBSCRIBED.subscription!, cancelsAt: ago(-9_000) } },
        /From then on the Free plan applies/,
      ),
      holds: true,
    },
    { ...state('confirming', {}, 'Confirming'), path: done, loading: true, holds: true },
    { ...state('confirmed', SUBSCRIBED, /The payment is confirmed/), path: done },
    {
      name: 'loading',
      path,
      loading: true,
      before: holding('/v1/billing'),
      act: (page) => page.getByRole('heading', { name: 'Billing' }).waitFor(),
    },
    { name: 'failed', path, before: failing('/v1/billing'), act: says('The billing could not be read') },
  ]);
});
