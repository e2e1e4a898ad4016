import type { Db } from '#lib/database/index.ts';
import { readPeriodUsage, type PeriodUsage, effectivePlan, type Plan, type PlanRule } from '../plans.ts';
import { listSubscriptions, type Subscription } from './entitlement.ts';

/** An organization's plan, its use, and problems that need a person. */
export interface BillingSummary {
  readonly plan: Plan;
  /** Source of the plan: the operator, a subscription, or `none` for the free plan. */
  readonly source: 'self_hosted' | 'subscription' | 'none';
  /** State of the subscription in the processor's words; null without a subscription. */
  readonly status: string | null;
  readonly subscription: Subscription | undefined;
  readonly usage: PeriodUsage;
  /** Problem that needs a person: a payment failed, and the access ends at `until`. */
  readonly attention: { readonly code: 'payment_failed'; readonly until: Date | null } | null;
  readonly isCustomer: boolean;
  readonly syncedAt: Date | null;
}

export async function readBilling(db: Db, rule: PlanRule, organizationId: string): Promise<BillingSummary> {
  const [stored, subscriptions, usage] = await Promise.all([
    db.row<{ paidPlan: Plan | null; isCustomer: boolean; syncedAt: Date | null }>`
      select case when o.paid_until > now() then o.paid_plan end as "paidPlan",
        c.customer_id is not null as "isCustomer", c.synced_at as "syncedAt"
      from organizations o left join billing_customers c on c.organization_id = o.id
      where o.id = ${organizationId}
    `,
    listSubscriptions(db, organizationId),
    readPeriodUsage(db, organizationId),
  ]);
  const paidPlan = stored?.paidPlan ?? null;
  const counting = subscriptions.find(({ plan, entitledUntil }) => plan === paidPlan && entitledUntil !== null);
  const subscription = (paidPlan === null ? undefined : counting) ?? subscriptions[0];
  return {
    plan: effectivePlan(rule, paidPlan),
    source: !rule.billingConfigured ? 'self_hosted' : paidPlan === null ? 'none' : 'subscription',
    status: subscription?.status ?? null,
    subscription,
    usage,
    attention:
      subscription?.status === 'past_due' ? { code: 'payment_failed', until: subscription.entitledUntil } : null,
    isCustomer: stored?.isCustomer === true,
    syncedAt: stored?.syncedAt ?? null,
  };
}
