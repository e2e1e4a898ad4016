import type Stripe from 'stripe';
import type { PaidPlan } from '#core/identity/index.ts';
import { planOfPrice, type PriceList } from './prices.ts';

/** A subscription as it is stored: what access and its presentation need, without payer and address. */
export interface Subscription {
  readonly id: string;
  /** Status in the processor's word, from an open list. */
  readonly status: string;
  readonly priceId: string | null;
  /** Null for a price that is not ours. */
  readonly plan: PaidPlan | null;
  readonly priceCents: number | null;
  readonly currency: string | null;
  readonly interval: string | null;
  readonly startedAt: Date;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  /** Time at which the subscription ends, or ended, by cancellation. */
  readonly cancelsAt: Date | null;
  /** Time until which it entitles to its plan, even if no further event arrives; null when it entitles to none. */
  readonly entitledUntil: Date | null;
}

export interface EntitlementRule {
  readonly prices: PriceList;
  readonly graceDays: number;
}

const DAY_MS = 86_400_000;

/** Days beyond its period for which an active subscription is trusted when its renewal has not been reported. */
const RENEWAL_SLACK_DAYS = 14;

/**
 * Reads a subscription of the processor, with its latest invoice expanded. Periods are those of the item whose price is
 * ours; a cancellation by the portal sets `cancel_at` and leaves `cancel_at_period_end` false, so both are read.
 */
export function readSubscription(rule: EntitlementRule, found: Stripe.Subscription): Subscription {
  const items = found.items.data;
  const item = items.find(({ price }) => planOfPrice(rule.prices, price.id)) ?? items[0];
  const plan = planOfPrice(rule.prices, item?.price.id ?? null) ?? null;
  const periodEnd = item === undefined ? null : instant(item.current_period_end);
  const cancelsAt =
    found.cancel_at === null
      ? found.cancel_at_period_end
        ? periodEnd
        : null
      : instant(found.cancel_at);
  return {
    id: found.id,
    status: found.status,
    priceId: item?.price.id ?? null,
    plan,
    priceCents: item?.price.unit_amount ?? null,
    currency: item?.price.currency ?? null,
    interval: item?.price.recurring?.interval ?? null,
    startedAt: instant(found.start_date),
    periodStart: item === undefined ? null : instant(item.current_period_start),
    periodEnd,
    cancelsAt,
    entitledUntil: plan === null ? null : entitledUntil(rule, found, { periodEnd, cancelsAt }),
  };
}

/**
 * Decides until when a subscription entitles. The grace of a failed payment counts from the invoice that failed, so
 * that retries of the payment do not extend it. An unknown status entitles to nothing.
 */
function entitledUntil(
  { graceDays }: EntitlementRule,
  { status, latest_invoice: invoice }: Stripe.Subscription,
  { periodEnd, cancelsAt }: { periodEnd: Date | null; cancelsAt: Date | null },
): Date | null {
  switch (status) {
    case 'active':
    case 'trialing':
      return cancelsAt ?? (periodEnd && after(periodEnd, RENEWAL_SLACK_DAYS));
    case 'past_due': {
      if (invoice === null || typeof invoice === 'string') return null;
      const grace = after(instant(invoice.created), graceDays);
      return cancelsAt !== null && cancelsAt < grace ? cancelsAt : grace;
    }
    default:
      return null;
  }
}

function instant(seconds: number): Date {
  return new Date(seconds * 1_000);
}

function after(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}
