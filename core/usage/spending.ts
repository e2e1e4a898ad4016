import type { Budget } from '#core/accounts/settings/index.ts';
import type { Db } from '#lib/database/index.ts';
import {
  budgetColumns,
  MIN_OUTPUT_TOKENS,
  spentThisMonth,
  spentToday,
  thisMonth,
  today,
  type Budgets,
} from './budget.ts';

/** Number of full days from which the pace of other routines is computed. */
export const PACE_DAYS = 7;

/** The budget of one scope, its spending, and its pace. Amounts are decimal strings. */
interface ScopeSpending {
  readonly budget: Budget;
  readonly tokensToday: string;
  readonly costUsdThisMonth: string;
  /** Tokens that the scope's other routines have used in the last `PACE_DAYS` days together. */
  readonly othersTokens: string;
  readonly othersCostUsd: string;
}

export type Spending = Readonly<Record<keyof Budgets, ScopeSpending>>;

/** Reads the budgets of a routine, its project and its organization, with the spending and the pace of each. */
export async function readSpending(
  db: Db,
  ids: { routineId: string; projectId: string; organizationId: string },
): Promise<Spending> {
  const { routineId, projectId, organizationId } = ids;
  const found = await db.rows<ScopeSpending & { scope: keyof Budgets }>`
    with others as materialized (
      select d.project_id, sum(d.input_tokens + d.output_tokens) as tokens, sum(d.cost_usd) as cost_usd
      from projects p join usage_days d on d.project_id = p.id
      where p.organization_id = ${organizationId} and d.routine_id <> ${routineId}
        and d.day >= ${today} - ${PACE_DAYS}::integer and d.day < ${today}
      group by d.project_id
    ), scopes (scope, id, budget) as (
      select 'routine', r.id, ${budgetColumns('r')} from routines r
      where r.id = ${routineId} and r.project_id = ${projectId}
      union all select 'project', p.id, ${budgetColumns('p')} from projects p where p.id = ${projectId}
      union all select 'organization', o.id, ${budgetColumns('o')} from organizations o where o.id = ${organizationId}
    )
    select s.scope, s.budget, (${spentToday})::text as "tokensToday",
      trim_scale(${spentThisMonth})::text as "costUsdThisMonth", pace.tokens::text as "othersTokens",
      trim_scale(pace.cost_usd)::text as "othersCostUsd"
    from scopes s
    left join usage_totals t on t.scope_id = s.id
    cross join lateral (
      select coalesce(sum(others.tokens), 0) as tokens, coalesce(sum(others.cost_usd), 0) as cost_usd from others
      where s.scope = 'organization' or (s.scope = 'project' and others.project_id = s.id)
    ) pace
  `;
  const of = (scope: keyof Budgets) => {
    const spending = found.find((each) => each.scope === scope);
    if (spending === undefined) throw new Error(`no ${scope} to read the spending of`);
    return spending;
  };
  return { routine: of('routine'), project: of('project'), organization: of('organization') };
}

/** The budget of a routine, a project or an organization. */
interface ScopeBudget extends Budget {
  readonly scopeId: string;
}

interface ShareUsed {
  readonly scopeId: string;
  readonly budget: 'tokens_day' | 'cost_month';
  /** The first day of the period. */
  readonly period: string;
  /**
   * Spent share of the limit: 0.8 for four fifths. The share of tokens becomes 1 when fewer tokens are left than any
   * step needs.
   */
  readonly share: number;
}

/** Computes the spending against each of the limits. Reads one row for each scope, by its key. */
export function sharesUsed(db: Db, limits: readonly ScopeBudget[]): Promise<ShareUsed[]> {
  return db.rows<ShareUsed>`
    select l."scopeId", budget.name as budget, budget.period::text as period, budget.share
    from jsonb_to_recordset(${JSON.stringify(limits)}::jsonb)
      as l("scopeId" text, "maxTokensPerDay" bigint, "maxCostUsdPerMonth" numeric)
    join usage_totals t on t.scope_id = l."scopeId"
    cross join lateral (values
      ('tokens_day', ${today}, case when l."maxTokensPerDay" - ${spentToday} < ${MIN_OUTPUT_TOKENS} then 1
        else ${spentToday}::float8 / l."maxTokensPerDay" end),
      ('cost_month', ${thisMonth}, (${spentThisMonth} / l."maxCostUsdPerMonth")::float8)
    ) as budget (name, period, share)
    where budget.share is not null
  `;
}

/** A budget that is spent to at least the requested percent. */
export interface SpentBudget {
  readonly scope: keyof Budgets;
  /** Id of the routine, the project or the organization. */
  readonly scopeId: string;
  readonly name: string;
  readonly limit: 'maxTokensPerDay' | 'maxCostUsdPerMonth';
  /** Spent percent of the budget; may be more than 100. */
  readonly percent: number;
}

/**
 * Finds the budgets of a project, its organization and its routines that are spent to at least a percent, the fullest
 * first. Reads the routines of the project, and one row for each that has a budget.
 */
export function spentBudgets(
  db: Db,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string },
  { percent, limit }: { readonly percent: number; readonly limit: number },
): Promise<SpentBudget[]> {
  return db.rows<SpentBudget>`
    with scopes (scope, id, name, tokens, cost_usd) as (
      select 'organization', id, name, max_tokens_per_day, max_cost_usd_per_month from organizations
      where id = ${organizationId}
      union all select 'project', id, name, max_tokens_per_day, max_cost_usd_per_month from projects
      where id = ${projectId}
      union all select 'routine', id, name, max_tokens_per_day, max_cost_usd_per_month from routines
      where project_id = ${projectId} and state <> 'archived'
        and (max_tokens_per_day is not null or max_cost_usd_per_month is not null)
    )
    select s.scope, s.id as "scopeId", s.name, spent.name as limit, floor(spent.share * 100)::integer as percent
    from scopes s join usage_totals t on t.scope_id = s.id
    cross join lateral (values
      ('maxTokensPerDay', (${spentToday})::numeric / s.tokens),
      ('maxCostUsdPerMonth', (${spentThisMonth}) / s.cost_usd)
    ) as spent (name, share)
    where spent.share * 100 >= ${percent}::integer
    order by spent.share desc, s.id limit ${limit}
  `;
}
