import { paidPlanOf, type PaidPlan } from '#core/organizations/index.ts';
import { join, sql, type Sql } from '#lib/database/index.ts';

/** Allowances of the plans. `apiWrites` lets API keys write; prices are US cents a month. */
export const PLANS = {
  free: { priceCents: 0, activeRoutines: 2, runsPerPeriod: 100, runsAtATime: 1, apiWrites: false },
  starter: {
    priceCents: 1_000,
    activeRoutines: 10,
    runsPerPeriod: 1_000,
    runsAtATime: 3,
    apiWrites: false,
  },
  pro: {
    priceCents: 3_900,
    activeRoutines: 100,
    runsPerPeriod: 20_000,
    runsAtATime: 20,
    apiWrites: true,
  },
  scale: {
    priceCents: 9_900,
    activeRoutines: 1_000,
    runsPerPeriod: 200_000,
    runsAtATime: 100,
    apiWrites: true,
  },
} as const satisfies Record<'free' | PaidPlan, object>;

export type Plan = keyof typeof PLANS;

export interface PlanRule {
  /** True when a payment processor is configured; without one the service is self-hosted. */
  readonly billingConfigured: boolean;
  /** The plan of every organization on a self-hosted service. */
  readonly defaultPlan: Plan;
  /** The operator's own bound on an organization's runs at a time. Default none. */
  readonly runsAtATime?: number | undefined;
}

/** Returns an organization's plan: the one it has paid for, or the operator's default on a self-hosted service. */
export function effectivePlan(rule: PlanRule, paidPlan: Plan | null): Plan {
  return rule.billingConfigured ? (paidPlan ?? 'free') : rule.defaultPlan;
}

/**
 * Returns how many runs the organization `o` of a statement may have at a time, as an SQL expression; null for no
 * bound. A plan's bound counts where plans are paid for: a self-hosted service has its fair shares and the operator's
 * bound.
 */
export function runsAtATimeOf(rule: PlanRule): Sql {
  const operator = sql`${rule.runsAtATime ?? null}::integer`;
  if (!rule.billingConfigured) return operator;
  const plans = Object.entries(PLANS).filter(([plan]) => plan !== 'free');
  const cases = plans.map(
    ([plan, { runsAtATime }]) => sql`when ${plan} then ${runsAtATime}::integer`,
  );
  return sql`least(case ${paidPlanOf(sql`o`)} ${join(cases, ' ')} else ${PLANS.free.runsAtATime}::integer end, ${operator})`;
}

/** Tells whether the actor may write: API keys on pro and scale only, a person's session on any plan. */
export function mayWrite(plan: Plan, actor: 'key' | 'session'): boolean {
  return actor === 'session' || PLANS[plan].apiWrites;
}

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
