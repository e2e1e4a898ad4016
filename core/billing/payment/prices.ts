import type { PaidPlan } from '#core/identity/index.ts';
import { PLANS } from '../plans.ts';

/** The paid plans, the cheapest first. */
export const PAID_PLANS = ['starter', 'pro', 'scale'] as const satisfies readonly PaidPlan[];

/** Price ids of each paid plan: the first is sold, the others stay recognized. */
export type PriceList = Readonly<Record<PaidPlan, readonly [sold: string, ...former: string[]]>>;

/** Returns the plan of a price; undefined for a price that is not ours. */
export function planOfPrice(prices: PriceList, priceId: string | null): PaidPlan | undefined {
  return PAID_PLANS.find((plan) => priceId !== null && prices[plan].includes(priceId));
}

/** Parses `price_a, price_b`, as the variables hold it. @throws when it names no price */
export function parsePriceIds(text: string): readonly [string, ...string[]] {
  const [sold, ...former] = text
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  if (sold === undefined) throw new Error('no price id');
  return [sold, ...former];
}

/** Returns the better of two plans. */
export function isBetter(plan: PaidPlan, than: PaidPlan): boolean {
  return PLANS[plan].priceCents > PLANS[than].priceCents;
}
