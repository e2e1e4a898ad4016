import type { Budget } from '#core/identity/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';
import { MIN_OUTPUT_TOKENS, spentThisMonth, spentToday, thisMonth, today } from './totals.ts';

/** The budget of a routine, a project or an organization. */
export interface ScopeBudget extends Budget {
  readonly scopeId: string;
}

/** Share of one budget of a scope that is spent in its present period. */
export interface ShareUsed {
  readonly scopeId: string;
  readonly budget: 'tokens_day' | 'cost_month';
  /** The first day of the period. */
  readonly period: string;
  /** 0.8 for four fifths; 1 also where less is left than any step can use. */
  readonly share: number;
}

/** Computes what is spent of each of the limits. Reads one row for each scope, by its key. */
export function sharesUsed(db: Db, limits: readonly ScopeBudget[]): Promise<ShareUsed[]> {
  return rows<ShareUsed>(
    db,
    sql`
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
    `,
  );
}
