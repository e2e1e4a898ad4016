import { Big } from 'big.js';
import type { Budget } from '#core/accounts/settings/index.ts';
import { raw, sql, type Sql } from '#lib/database/index.ts';
import { capitalized } from '#lib/text.ts';

/** The budgets that bind one routine, each on its own. */
export interface Budgets {
  readonly routine: Budget;
  readonly project: Budget;
  readonly organization: Budget;
}

/** A routine that is about to spend: its project, its organization, the provider of its model, and the budgets. */
interface Spender {
  readonly routineId: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly provider: string;
  readonly budgets: Budgets;
}

/** US dollars a month that each organization may spend on models that the operator pays for; undefined for no limit. */
export type OperatorCap = string | undefined;

/** The limits of one scope: a routine, a project or an organization. */
export interface ScopeLimits extends Budget {
  readonly scopeId: string;
  readonly scope: LimitScope;
  /** Says which cost limit applies: the scope's own, or the operator's if that is lower. */
  readonly costScope: LimitScope;
}

/**
 * Returns the limits of the spender's scopes, also of scopes without limits. The operator's cap applies to models that
 * the operator pays for, not to a person's own account.
 */
export function limitsOf(spender: Spender, cap: OperatorCap): ScopeLimits[] {
  const { routine, project, organization } = spender.budgets;
  const capped = spender.provider === 'gateway' ? cap : undefined;
  const maxCostUsdPerMonth = lower(organization.maxCostUsdPerMonth, capped ?? null);
  return [
    {
      scopeId: spender.organizationId,
      scope: 'organization',
      maxTokensPerDay: organization.maxTokensPerDay,
      maxCostUsdPerMonth,
      costScope: maxCostUsdPerMonth === organization.maxCostUsdPerMonth ? 'organization' : 'operator',
    },
    { scopeId: spender.projectId, scope: 'project', costScope: 'project', ...project },
    { scopeId: spender.routineId, scope: 'routine', costScope: 'routine', ...routine },
  ];
}

export function isLimited({ maxTokensPerDay, maxCostUsdPerMonth }: Budget): boolean {
  return maxTokensPerDay !== null || maxCostUsdPerMonth !== null;
}

/** Selects a budget from a row of `routines`, `projects` or `organizations`, as JSON. */
export function budgetColumns(table: 'r' | 'p' | 'o'): Sql {
  const from = raw(table);
  return sql`jsonb_build_object('maxTokensPerDay', ${from}.max_tokens_per_day,
    'maxCostUsdPerMonth', trim_scale(${from}.max_cost_usd_per_month)::text)`;
}

function lower(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return new Big(one).lt(other) ? one : other;
}

export const LIMIT_SCOPES = ['routine', 'project', 'organization', 'operator', 'plan'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** Names of the limits: tokens a day, US dollars a month, runs in the plan's period. */
export const LIMIT_NAMES = ['maxTokensPerDay', 'maxCostUsdPerMonth', 'runsPerPeriod'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

export const RAISED_BY: Readonly<Record<LimitScope, string>> = {
  routine: 'anyone who may change the routine',
  project: 'an owner or an admin of the organization',
  organization: 'an owner or an admin of the organization',
  operator: 'the operator of the service',
  plan: 'the owner of the organization, with a larger plan',
};

/** Names a limit within a sentence: "the project's budget.maxCostUsdPerMonth of 5 US dollars". */
export function limitInWords(limit: {
  readonly scope: LimitScope;
  readonly name: LimitName;
  readonly max: string;
}): string {
  const { scope, name, max } = limit;
  if (scope === 'plan') return `the plan's allowance of ${max} runs a period`;
  if (scope === 'operator') return `the operator's MAX_COST_USD_PER_ORGANIZATION of ${max} US dollars`;
  const unit = name === 'maxTokensPerDay' ? 'tokens' : 'US dollars';
  return `the ${scope}'s budget.${name} of ${max} ${unit}`;
}

/** Says that too little of a limit is left, and who may raise it. */
export function tooLittleLeft(limit: Parameters<typeof limitInWords>[0]): string {
  const words = capitalized(limitInWords(limit));
  return `${words} leaves too little for a step. It can be raised by ${RAISED_BY[limit.scope]}.`;
}
