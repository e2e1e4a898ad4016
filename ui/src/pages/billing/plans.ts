import type { Shape } from '#ui/api/types.ts';
import { LOCALE } from '#ui/format/locale.ts';
import { plural } from '#ui/format/numbers.ts';

export type Billing = Shape<'Billing'>;
export type Plan = Billing['plan'];
export type PaidPlan = Exclude<Plan, 'free'>;

const NAMES: Readonly<Record<Plan, string>> = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  scale: 'Scale',
};

export function planName(plan: Plan): string {
  return NAMES[plan];
}

/** Formats a price as "$39", or as "$39.50" if there are cents. */
export function price(cents: number, currency: string): string {
  return new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: cents % 100 === 0 ? 0 : 2,
  }).format(cents / 100);
}

/** Lists the allowances of a plan, one line each. */
export function allowanceLines(allowances: Billing['allowances']): readonly string[] {
  const { activeRoutines, runs, runsAtATime, apiWrites } = allowances;
  return [
    plural(activeRoutines, 'active routine'),
    `${plural(runs, 'run')} a month`,
    `${plural(runsAtATime, 'run')} at a time`,
    apiWrites ? 'API keys read and write' : 'API keys read only',
  ];
}
