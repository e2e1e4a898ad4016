import { sql, type Sql } from '#lib/database/index.ts';

/** Plans that an organization can have paid for; null in its row means none. */
export type PaidPlan = 'starter' | 'pro' | 'scale';

/**
 * Returns the plan that a row of `organizations` has paid for, as an SQL expression. It ends by itself with what was
 * paid for, so that neither a tick nor the processor has to take it away.
 */
export function paidPlanOf(organization: Sql): Sql {
  return sql`(case when ${organization}.paid_until > now() then ${organization}.paid_plan end)`;
}
