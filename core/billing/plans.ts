/** Allowances of the plans; `apiWrites` is whether API keys may write. Prices are US cents a month. */
export const PLANS = {
  free: { priceCents: 0, activeRoutines: 2, runsPerMonth: 100, apiWrites: false },
  starter: { priceCents: 1_000, activeRoutines: 10, runsPerMonth: 1_000, apiWrites: false },
  pro: { priceCents: 3_900, activeRoutines: 100, runsPerMonth: 20_000, apiWrites: true },
  scale: { priceCents: 9_900, activeRoutines: 1_000, runsPerMonth: 200_000, apiWrites: true },
} as const;

export type Plan = keyof typeof PLANS;

export interface PlanRule {
  /** Whether a payment processor is configured; without one the service is self-hosted. */
  readonly billingConfigured: boolean;
  /** The plan of everybody on a self-hosted service. */
  readonly defaultPlan: Plan;
}

/** The plan that gates an organization: what it has paid for, or the operator's default where nobody pays. */
export function effectivePlan(rule: PlanRule, paidPlan: Plan | null): Plan {
  return rule.billingConfigured ? (paidPlan ?? 'free') : rule.defaultPlan;
}

/** API keys may write on pro and scale only; a person's session may write on any plan, within its allowances. */
export function mayWrite(plan: Plan, actor: 'key' | 'session'): boolean {
  return actor === 'session' || PLANS[plan].apiWrites;
}
