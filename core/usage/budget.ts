import { Big } from 'big.js';
import type { Budget } from '#core/accounts/settings/index.ts';
import { costOf, type Prices } from '#core/foundation/cost/index.ts';
import { raw, sql, type Db, type Sql } from '#lib/database/index.ts';
import { capitalized } from '#lib/text.ts';

/** The budgets that limit one routine, each separately. */
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
 * Returns the limits of the spender's scopes, including scopes without limits. The operator's cap applies to models
 * that the operator pays for, not to a person's own account.
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
  return `${words} leaves too little for a step. The limit can be raised by ${RAISED_BY[limit.scope]}.`;
}

/** Spending is counted by day and month in UTC. */
export const today = sql`(now() at time zone 'utc')::date`;
export const thisMonth = sql`date_trunc('month', now() at time zone 'utc')::date`;

/** The fewest output tokens with which a step begins. */
export const MIN_OUTPUT_TOKENS = 256;

/**
 * Adds to the totals of scopes, one row each, as a statement for use as a CTE. Rows are locked in the order of their
 * ids, so that steps recorded at once cannot deadlock. A statement that began before midnight and runs after a
 * statement of the new day leaves the new day's total alone.
 * @param source relation with `scope_id`, `tokens`, `cost_usd`, `reserved_tokens` and `reserved_cost_usd`
 */
export function addToTotals(source: Sql): Sql {
  return sql`insert into usage_totals as t (scope_id, day, day_tokens, month, month_tokens, month_cost_usd,
          reserved_tokens, reserved_cost_usd)
        select scope_id, ${today}, tokens, ${thisMonth}, tokens, cost_usd, reserved_tokens, reserved_cost_usd
        from ${source} as added order by scope_id
        on conflict (scope_id) do update set
          day = greatest(t.day, excluded.day),
          day_tokens = case when t.day >= excluded.day then t.day_tokens else 0 end
            + case when excluded.day >= t.day then excluded.day_tokens else 0 end,
          month = greatest(t.month, excluded.month),
          month_tokens = case when t.month >= excluded.month then t.month_tokens else 0 end
            + case when excluded.month >= t.month then excluded.month_tokens else 0 end,
          month_cost_usd = case when t.month >= excluded.month then t.month_cost_usd else 0 end
            + case when excluded.month >= t.month then excluded.month_cost_usd else 0 end,
          reserved_tokens = t.reserved_tokens + excluded.reserved_tokens,
          reserved_cost_usd = t.reserved_cost_usd + excluded.reserved_cost_usd
        returning scope_id`;
}

/** A limit that leaves too little for a step. */
export interface PassedLimit {
  readonly scope: LimitScope;
  readonly name: LimitName;
  readonly max: string;
}

/** The least that a step needs. Missing fields mean the least that any step needs. */
export interface LeastOfStep {
  readonly tokens: number;
  readonly costUsd: string;
}

/** Returns the least that a step needs: its input, and the fewest output tokens with which a step begins. */
export function leastOf(step: {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly prices: Prices | null;
}): LeastOfStep {
  const { inputTokens, prices } = step;
  const outputTokens = Math.min(step.outputTokens, MIN_OUTPUT_TOKENS);
  const used = { inputTokens, cachedInputTokens: 0, outputTokens, reasoningTokens: 0 };
  return { tokens: inputTokens + outputTokens, costUsd: costOf(used, prices) ?? '0' };
}

const ANY_STEP: LeastOfStep = { tokens: MIN_OUTPUT_TOKENS, costUsd: '0' };

/**
 * Finds the spenders for whom a limit leaves less than a step needs. Reads one row by key for each scope with a limit.
 * @returns the limit for each such spender, by the spender's index
 */
export async function overBudget(
  db: Db,
  spenders: readonly (readonly ScopeLimits[])[],
  least: LeastOfStep = ANY_STEP,
): Promise<ReadonlyMap<number, PassedLimit>> {
  const limited = spenders.flatMap((limits, index) => limits.filter(isLimited).map((limit) => ({ index, ...limit })));
  if (limited.length === 0) return new Map();
  const over = await db.rows<PassedLimit & { index: number }>`
    select distinct on (l.index) l.index, passed.scope, passed.name, passed.max
    from jsonb_to_recordset(${JSON.stringify(limited)}::jsonb)
      as l(index integer, "scopeId" text, scope text, "costScope" text, "maxTokensPerDay" bigint,
        "maxCostUsdPerMonth" numeric)
    left join lateral (select * from usage_totals where scope_id = l."scopeId" limit 1) t on true
    cross join lateral (${passedOf(least, tokensLeft, costLeft)}) passed
    order by l.index, ${nearestFirst}
  `;
  return new Map(over.map(({ index, ...limit }) => [index, limit]));
}

/**
 * Selects the limits of a scope that leave less than a step needs, as relation `passed` with `scope`, `name` and `max`.
 * @param tokens, cost the unused parts of the limits of the scope `l`
 */
export function passedOf(least: LeastOfStep, tokens: Sql, cost: Sql): Sql {
  return sql`
        select l.scope as scope, 'maxTokensPerDay' as name, l."maxTokensPerDay"::text as max
        where ${tokens} < ${least.tokens}
        union all
        select l."costScope", 'maxCostUsdPerMonth', trim_scale(l."maxCostUsdPerMonth")::text
        where ${cost} <= ${least.costUsd}::numeric`;
}

/** Orders `passed` by scope, from the routine's own limits to those of the plan. */
export const nearestFirst = sql`array_position(${[...LIMIT_SCOPES]}::text[], passed.scope), passed.name`;

/** The tokens of today and the cost of this month in a row `t` of `usage_totals`, which may be missing. */
export const spentToday = sql`case when t.day >= ${today} then t.day_tokens else 0 end`;
export const spentThisMonth = sql`case when t.month >= ${thisMonth} then t.month_cost_usd else 0 end`;

/** Tokens of today and cost of this month that the limits `l` of a scope still allow, given its row `t` of totals. */
export const tokensLeft = sql`l."maxTokensPerDay" - ${spentToday}`;
export const costLeft = sql`l."maxCostUsdPerMonth" - ${spentThisMonth}`;
