import type Stripe from 'stripe';
import type { PaidPlan } from '#core/accounts/organizations/index.ts';
import { PAID_PLANS, PLANS } from '../plans.ts';

/** Metadata key by which a set-up finds the objects of an earlier one. */
const MARK = 'ras_plan';

export interface SetUp {
  readonly prices: Readonly<Record<PaidPlan, string>>;
  readonly portal: string;
}

/**
 * Creates the products, the monthly prices and the portal's configuration at the processor. Objects of an earlier
 * set-up are recognized by their metadata, so a repetition changes nothing.
 */
export async function setUpProcessor(stripe: Stripe, productName: string): Promise<SetUp> {
  const products: Record<string, { product: string; price: string }> = {};
  for (const plan of PAID_PLANS) products[plan] = await ensurePlan(stripe, plan, productName);
  const portal = await ensurePortal(stripe, Object.values(products));
  const prices = PAID_PLANS.map((plan) => [plan, products[plan]?.price]);
  return { prices: Object.fromEntries(prices), portal };
}

async function ensurePlan(stripe: Stripe, plan: PaidPlan, productName: string) {
  const known = await stripe.products.list({ active: true, limit: 100 }).autoPagingToArray({
    limit: 1_000,
  });
  const product =
    known.find(({ metadata }) => metadata[MARK] === plan) ??
    (await stripe.products.create({
      name: `${productName} ${plan[0]?.toUpperCase()}${plan.slice(1)}`,
      metadata: { [MARK]: plan },
    }));
  const prices = await stripe.prices.list({ product: product.id, active: true, limit: 100 });
  const amount = PLANS[plan].priceCents;
  const price =
    prices.data.find(
      ({ unit_amount: cents, currency, recurring }) =>
        cents === amount && currency === 'usd' && recurring?.interval === 'month' && recurring.interval_count === 1,
    ) ??
    (await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: amount,
      recurring: { interval: 'month' },
      metadata: { [MARK]: plan },
    }));
  return { product: product.id, price: price.id };
}

/** Configures the portal: upgrades take effect at once, downgrades and cancellations at the end of the period. */
async function ensurePortal(stripe: Stripe, products: readonly { product: string; price: string }[]): Promise<string> {
  const features: Stripe.BillingPortal.ConfigurationCreateParams.Features = {
    customer_update: { enabled: true, allowed_updates: ['address', 'name', 'email', 'tax_id'] },
    invoice_history: { enabled: true },
    payment_method_update: { enabled: true },
    subscription_cancel: { enabled: true, mode: 'at_period_end' },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price', 'promotion_code'],
      proration_behavior: 'always_invoice',
      products: products.map(({ product, price }) => ({ product, prices: [price] })),
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
    },
  };
  const known = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
  const own = known.data.find(({ metadata }) => metadata?.[MARK] === 'portal');
  const { id } =
    own === undefined
      ? await stripe.billingPortal.configurations.create({
          features,
          metadata: { [MARK]: 'portal' },
        })
      : await stripe.billingPortal.configurations.update(own.id, { features });
  return id;
}
