import { Big } from 'big.js';
import type { Budget } from '#core/identity/index.ts';
import type { LimitScope } from './limit-names.ts';
import { raw, sql, type Sql } from '#lib/database/index.ts';

/** The budgets that bind one routine, each on its own. */
export interface Budgets {
  readonly routine: Budget;
  readonly project: Budget;
  readonly organization: Budget;
}

/** The one who spends: a routine in its project and organization, on a model of this provider. */
export interface Spender {
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
  /** Scope of the cost limit: the operator's, where that limit is the lower one. */
  readonly costScope: LimitScope;
}

/**
 * Returns the limits of the spender's scopes, those without any included. The operator pays for the gateway's models
 * and not for a person's own account, so the cap binds those only.
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
      costScope:
        maxCostUsdPerMonth === organization.maxCostUsdPerMonth ? 'organization' : 'operator',
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
