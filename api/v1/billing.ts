import { z } from 'zod';
import { component } from '../http/schemas.ts';
import {
  beginCheckout,
  checkoutBarrier,
  PAID_PLANS,
  PLANS,
  readBilling,
  refreshWithin,
  visitPortal,
  type BillingSummary,
} from '#core/accounts/billing/index.ts';
import type { Deps } from '../deps.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Billing');

/** Time that a read with `refresh` waits for the processor. */
const REFRESH_MS = 5_000;

const planName = z.enum(['free', ...PAID_PLANS]);
const allowances = z.strictObject({
  activeRoutines: z.number().int(),
  runs: z.number().int().describe('Runs in a period.'),
  runsAtATime: z.number().int().describe('Runs under way at a time; enforced only where plans are paid for.'),
  apiWrites: z.boolean().describe('Whether API keys may write.'),
});

const billing = component('Billing', {
  plan: planName.describe('The plan that applies now.'),
  source: z.enum(['self_hosted', 'subscription', 'none']),
  status: z.string().nullable().meta({
    description: 'Status of the subscription, in the words of the payment processor.',
    example: 'active',
  }),
  subscription: z
    .strictObject({
      plan: z.enum(PAID_PLANS).nullable(),
      priceCents: z.number().int().nullable(),
      currency: z.string().nullable(),
      interval: z.string().nullable(),
      startedAt: timestamp,
      cancelsAt: timestamp.nullable(),
    })
    .nullable(),
  period: z.strictObject({
    start: timestamp,
    end: timestamp,
    kind: z.enum(['subscription', 'month']),
  }),
  allowances,
  usage: z.strictObject({ activeRoutines: z.number().int(), runs: z.number().int() }),
  attention: z
    .strictObject({ code: z.literal('payment_failed'), until: timestamp.nullable() })
    .nullable()
    .describe('A failed payment, and the end of access if it stays unpaid.'),
  isOwner: z.boolean(),
  checkout: z.strictObject({ available: z.boolean(), reason: z.string().nullable() }),
  portal: z.strictObject({ available: z.boolean() }),
  plans: z.array(
    z.strictObject({
      plan: planName,
      priceCents: z.number().int(),
      currency: z.literal('usd'),
      allowances,
    }),
  ),
  syncedAt: timestamp.nullable().describe('When the payment processor was last asked.'),
});

const readBillingSummary = route('GET /v1/billing', {
  id: 'readBillingSummary',
  summary: 'Read plan, period, allowances and usage',
  description:
    'With `refresh=true` the payment processor is asked first, at most 60 times a minute for an organization. Use it after a return from the processor’s pages; the return itself grants nothing.',
  auth: 'project-session',
  query: z.strictObject({
    refresh: z
      .enum(['true', 'false'])
      .default('false')
      .describe('Ask the payment processor first, for at most five seconds.'),
  }),
  success: { data: billing, description: 'The billing of the active organization.' },
}).to(async ({ access, query, deps }) => {
  const { organizationId, actor } = access;
  const { database, payment, planRule } = deps;
  const { processor, watch } = payment;
  if (query.refresh === 'true' && processor !== undefined) {
    await refreshWithin({ database, processor, watch }, organizationId, REFRESH_MS);
  }
  const summary = await readBilling(database, planRule, organizationId);
  return { data: presentBilling(summary, deps, actor.role === 'owner') };
});

const startCheckout = route('POST /v1/billing/checkout', {
  id: 'startCheckout',
  summary: 'Begin a checkout on the page of the payment processor',
  description:
    'An organization with a subscription gets the address of the portal instead. `entrypoint` names the page of the return; an unknown name means the page on billing.',
  auth: 'org-owner-session',
  fresh: true,
  body: component('StartCheckout', {
    plan: z.enum(PAID_PLANS),
    entrypoint: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,49}$/, 'must be a name of at most 50 small letters, digits, - and _')
      .meta({ example: 'billing' }),
  }),
  success: {
    data: component('Checkout', { url: z.url(), kind: z.enum(['checkout', 'portal']) }),
    description: 'Where to send the browser.',
  },
  errors: ['checkout_disabled', 'provider_error'],
}).to(async ({ access, body, deps: { database, payment } }) => {
  const { organizationId, actor } = access;
  const input = { ...body, organizationId, userId: actor.userId };
  return { data: await beginCheckout({ database, ...payment }, input) };
});

const openBillingPortal = route('POST /v1/billing/portal', {
  id: 'openBillingPortal',
  summary: 'Open the portal of the payment processor',
  description: 'In the portal the owner changes or cancels the subscription, its means of payment and its addresses.',
  auth: 'org-owner-session',
  fresh: true,
  success: {
    data: component('BillingPortal', { url: z.url() }),
    description: 'Where to send the browser, soon.',
  },
  errors: ['billing_account_missing', 'provider_error'],
}).to(async ({ access, deps: { database, payment } }) => ({
  data: { url: await visitPortal({ database, ...payment }, access.organizationId) },
}));

export const billingRoutes: readonly Route[] = [readBillingSummary, startCheckout, openBillingPortal];

function presentBilling(summary: BillingSummary, { payment }: Deps, isOwner: boolean) {
  const { plan, usage } = summary;
  const barrier = checkoutBarrier(payment);
  return present(billing, {
    ...summary,
    subscription: summary.subscription ?? null,
    period: usage,
    allowances: allowancesOf(plan),
    attention: summary.attention ?? null,
    isOwner,
    checkout: { available: barrier === undefined, reason: barrier ?? null },
    portal: { available: payment.processor !== undefined && summary.isCustomer },
    plans: (['free', ...PAID_PLANS] as const).map((name) => ({
      plan: name,
      priceCents: PLANS[name].priceCents,
      currency: 'usd' as const,
      allowances: allowancesOf(name),
    })),
  });
}

function allowancesOf(plan: keyof typeof PLANS) {
  const { activeRoutines, runsPerPeriod: runs, runsAtATime, apiWrites } = PLANS[plan];
  return { activeRoutines, runs, runsAtATime, apiWrites };
}
