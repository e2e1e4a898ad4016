import type Stripe from 'stripe';
import { recordAudit, SYSTEM } from '#core/foundation/audit/index.ts';
import { rows, type PaidPlan } from '#core/accounts/organizations/index.ts';
import type { Db } from '#lib/database/index.ts';
import { isBetter, planOfPrice, type PriceList } from '../plans.ts';

/** States of a subscription that has not ended, so that the customer may still have to pay. */
const LIVE: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due', 'unpaid', 'paused']);

export function isLive({ status }: Pick<Subscription, 'status'>): boolean {
  return LIVE.has(status);
}

/** A stored subscription: the fields for access and presentation, without payer and address. */
export interface Subscription {
  readonly id: string;
  /** Status as the processor names it. The processor may add names. */
  readonly status: string;
  readonly priceId: string | null;
  /** The plan that the subscription pays for; null for a price that this service does not sell. */
  readonly plan: PaidPlan | null;
  readonly priceCents: number | null;
  readonly currency: string | null;
  readonly interval: string | null;
  readonly startedAt: Date;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  /** Time at which the subscription ends, or ended, by cancellation. */
  readonly cancelsAt: Date | null;
  /** Time until which the subscription grants its plan without a further event; null when it grants none. */
  readonly entitledUntil: Date | null;
}

interface EntitlementRule {
  readonly prices: PriceList;
  readonly graceDays: number;
}

const DAY_MS = 86_400_000;

/** Days for which an active subscription grants access after the end of its period, if no renewal was reported. */
const RENEWAL_SLACK_DAYS = 14;

/**
 * Reads a subscription of the processor. Plan, price and periods come from the item with the best plan. The portal
 * cancels by `cancel_at` and leaves `cancel_at_period_end` false, so both are read.
 * @param pastDueSince time at which the subscription was first seen past due
 */
export function readSubscription(
  rule: EntitlementRule,
  found: Stripe.Subscription,
  pastDueSince: Date | undefined,
): Subscription {
  const item = bestItem(rule.prices, found) ?? found.items.data[0];
  const plan = planOfPrice(rule.prices, item?.price.id ?? null) ?? null;
  const periodEnd = item === undefined ? null : instant(item.current_period_end);
  const cancelsAt =
    found.cancel_at === null ? (found.cancel_at_period_end ? periodEnd : null) : instant(found.cancel_at);
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
    entitledUntil: plan === null ? null : entitledUntil(rule, found.status, { periodEnd, cancelsAt, pastDueSince }),
  };
}

/** Lists the items of a subscription that have one of this service's prices, with the plan of each. */
export function ownItems(
  prices: PriceList,
  { items }: Stripe.Subscription,
): { readonly item: Stripe.SubscriptionItem; readonly plan: PaidPlan }[] {
  return items.data.flatMap((item) => {
    const plan = planOfPrice(prices, item.price.id);
    return plan === undefined ? [] : [{ item, plan }];
  });
}

function bestItem(prices: PriceList, found: Stripe.Subscription): Stripe.SubscriptionItem | undefined {
  const [first, ...others] = ownItems(prices, found);
  const best = others.reduce((before, each) => {
    const better =
      each.plan === before?.plan
        ? each.item.current_period_end > before.item.current_period_end
        : before === undefined || isBetter(each.plan, before.plan);
    return better ? each : before;
  }, first);
  return best?.item;
}

/**
 * Decides until when a subscription grants its plan. The grace after a failed payment counts from the first time that
 * the subscription was seen past due: neither a retry nor a new invoice extends it. An unknown status grants nothing.
 */
function entitledUntil(
  { graceDays }: EntitlementRule,
  status: string,
  times: { periodEnd: Date | null; cancelsAt: Date | null; pastDueSince: Date | undefined },
): Date | null {
  const { periodEnd, cancelsAt, pastDueSince } = times;
  switch (status) {
    case 'active':
    case 'trialing':
      return cancelsAt ?? (periodEnd && after(periodEnd, RENEWAL_SLACK_DAYS));
    case 'past_due': {
      if (pastDueSince === undefined) return null;
      const grace = after(pastDueSince, graceDays);
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

/** Decides an organization's access from all of its subscriptions: the best plan, and among equal plans the longest. */
export function decideAccess(subscriptions: readonly Subscription[], now: Date): rows.PaidAccess | undefined {
  let best: rows.PaidAccess | undefined;
  for (const { plan, entitledUntil: until, periodStart, periodEnd } of subscriptions) {
    if (plan === null || until === null || until <= now) continue;
    const access = { plan, until, periodStart, periodEnd };
    if (best === undefined || outranks(access, best)) best = access;
  }
  return best;
}

function outranks(access: rows.PaidAccess, best: rows.PaidAccess): boolean {
  return access.plan === best.plan ? access.until > best.until : isBetter(access.plan, best.plan);
}

/**
 * Stores when each subscription was first seen past due, and forgets the time once the subscription is active again.
 * @returns the times by the subscription's id
 */
export async function recordPastDue(
  tx: Db,
  organizationId: string,
  subscriptions: readonly Pick<Subscription, 'id' | 'status'>[],
): Promise<ReadonlyMap<string, Date>> {
  const idsOf = (wanted: string) => subscriptions.filter(({ status }) => status === wanted).map(({ id }) => id);
  await tx.run`
    delete from billing_past_due
    where organization_id = ${organizationId} and subscription_id = any(${idsOf('active')}::text[])
  `;
  await tx.run`
    insert into billing_past_due (subscription_id, organization_id, since)
    select id, ${organizationId}, now() from unnest(${idsOf('past_due')}::text[]) as seen (id)
    on conflict (subscription_id) do nothing
  `;
  const known = await tx.rows<{ id: string; since: Date }>`
    select subscription_id as id, since from billing_past_due where organization_id = ${organizationId}
  `;
  return new Map(known.map(({ id, since }) => [id, since]));
}

/**
 * Replaces all subscriptions of an organization's customer. Subscriptions of a former customer, whom the processor no
 * longer knows, stay while they grant access.
 */
export async function replaceSubscriptions(
  tx: Db,
  { organizationId, customerId }: { readonly organizationId: string; readonly customerId: string },
  subscriptions: readonly Subscription[],
): Promise<void> {
  await tx.run`
    delete from billing_subscriptions
    where organization_id = ${organizationId}
      and (coalesce(customer_id, ${customerId}) = ${customerId} or coalesce(entitled_until, now()) <= now())
  `;
  await tx.run`
    insert into billing_subscriptions (id, organization_id, customer_id, status, price_id, plan, price_cents, currency,
      interval, started_at, period_start, period_end, cancels_at, entitled_until)
    select id, ${organizationId}, ${customerId}, status, "priceId", plan, "priceCents", currency, interval, "startedAt",
      "periodStart", "periodEnd", "cancelsAt", "entitledUntil"
    from jsonb_to_recordset(${JSON.stringify(subscriptions)}::jsonb) as s(id text, status text, "priceId" text,
      plan text, "priceCents" integer, currency text, interval text, "startedAt" timestamptz,
      "periodStart" timestamptz, "periodEnd" timestamptz, "cancelsAt" timestamptz, "entitledUntil" timestamptz)
  `;
}

/** Lists the subscriptions of an organization, the newest first. */
export function listSubscriptions(db: Db, organizationId: string): Promise<Subscription[]> {
  return db.rows<Subscription>`
    select id, status, price_id as "priceId", plan, price_cents as "priceCents", currency, interval,
      started_at as "startedAt", period_start as "periodStart", period_end as "periodEnd",
      cancels_at as "cancelsAt", entitled_until as "entitledUntil"
    from billing_subscriptions where organization_id = ${organizationId}
    order by started_at desc, id
  `;
}

/** Stores the paid access of an organization, with an audit event when the plan changes. */
export async function recordAccess(tx: Db, organizationId: string, access: rows.PaidAccess | undefined): Promise<void> {
  const plan = access?.plan ?? null;
  const before = await rows.writePaidPlan(tx, organizationId, access);
  if (before === undefined || before.plan === plan) return;
  await recordAudit(tx, {
    organizationId,
    by: SYSTEM,
    action: 'plan.changed',
    targetId: organizationId,
    details: { from: before.plan ?? 'free', to: plan ?? 'free' },
  });
}
