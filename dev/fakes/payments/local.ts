import type { Price } from './objects.ts';

/** Public credentials of the payment processor on this machine, of no value. */
export const LOCAL_SECRET_KEY = 'sk_test_local';
export const LOCAL_WEBHOOK_SECRET = 'whsec_local';

/** One price for each paid plan. */
export const LOCAL_PRICES: readonly Price[] = [
  ['starter', 1_000] as const,
  ['pro', 3_900] as const,
  ['scale', 9_900] as const,
].map(([plan, cents]) => ({
  id: `price_${plan}`,
  object: 'price',
  product: `prod_${plan}`,
  unit_amount: cents,
  currency: 'usd',
  active: true,
  livemode: false,
  recurring: { interval: 'month', interval_count: 1 },
  metadata: {},
}));

/** Returns the variables with which a service uses the processor at this address. */
export function paymentEnvironment(apiUrl: string): Record<string, string> {
  return {
    STRIPE_API_URL: apiUrl,
    STRIPE_SECRET_KEY: LOCAL_SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: LOCAL_WEBHOOK_SECRET,
    STRIPE_PRICE_STARTER: 'price_starter',
    STRIPE_PRICE_PRO: 'price_pro',
    STRIPE_PRICE_SCALE: 'price_scale',
  };
}
