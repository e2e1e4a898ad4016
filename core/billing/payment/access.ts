import type { PaidPlan } from '#core/identity/index.ts';
import { isBetter } from './prices.ts';
import type { Subscription } from './subscription.ts';

/** The access that an organization has paid for. */
export interface PaidAccess {
  readonly plan: PaidPlan;
  readonly until: Date;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
}

/** Decides an organization's access from all of its subscriptions: the best plan, and of equal ones the longest. */
export function paidAccess(
  subscriptions: readonly Subscription[],
  now: Date,
): PaidAccess | undefined {
  let best: PaidAccess | undefined;
  for (const { plan, entitledUntil: until, periodStart, periodEnd } of subscriptions) {
    if (plan === null || until === null || until <= now) continue;
    const access = { plan, until, periodStart, periodEnd };
    if (best === undefined || outranks(access, best)) best = access;
  }
  return best;
}

function outranks(access: PaidAccess, best: PaidAccess): boolean {
  return access.plan === best.plan ? access.until > best.until : isBetter(access.plan, best.plan);
}
