import type { Core } from '#core/core.ts';
import { costOf, NO_USAGE, totalTokens, type Prices, type Usage } from '#core/foundation/cost/index.ts';
import { sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  addToTotals,
  budgetColumns,
  limitsOf,
  spentThisMonth,
  spentToday,
  today,
  tooLittleLeft,
  type Budgets,
  type OperatorCap,
  type PassedLimit,
  type ScopeLimits,
} from './budget.ts';
import { addedToDay } from './settle.ts';

/** Purposes of calls outside of a run; each takes the place of a routine's id in the usage of a project. */
type Purpose = 'model-tests' | 'drafts';

/** Usage that belongs to no run. */
interface Charge {
  readonly organizationId: string;
  readonly projectId: string;
  readonly modelId: string;
  readonly purpose: Purpose;
}

/** The charge made beforehand, and its day. */
interface Charged {
  readonly day: string;
  readonly tokens: number;
  readonly costUsd: string | null;
}

export interface SpentBesideRuns<T> {
  readonly value: T;
  readonly usage: Usage;
  /** Cost in US dollars; null for a model without prices. */
  readonly costUsd: string | null;
}

/**
 * Makes model calls that belong to no run. Charges project and organization beforehand with the most that the calls can
 * use, and takes the unused part back afterwards.
 * @param make makes the calls and reports the usage of each
 * @throws {AppError} `allowance_exceeded` when a budget leaves too little, or limits the cost of a model without prices
 */
export async function spendBesideRuns<T>(
  { database, metrics, maxCostUsdPerOrganization }: Pick<Core, 'database' | 'metrics' | 'maxCostUsdPerOrganization'>,
  charge: Charge,
  { prices, most }: { readonly prices: Prices | null; readonly most: Pick<Usage, 'inputTokens' | 'outputTokens'> },
  make: (used: (usage: Usage) => void) => Promise<T>,
): Promise<SpentBesideRuns<T>> {
  const limits = await readLimits(database, charge, maxCostUsdPerOrganization);
  if (prices === null && limits.some(({ maxCostUsdPerMonth }) => maxCostUsdPerMonth !== null)) {
    throw new AppError(
      'allowance_exceeded',
      'A budget limits the cost, but the model has no prices, so its cost cannot be counted.',
    );
  }
  const whole = { ...NO_USAGE, ...most };
  const charged = await chargeBeforehand(database, limits, {
    tokens: totalTokens(whole),
    costUsd: costOf(whole, prices),
  });
  const calls: Usage[] = [];
  let value: T;
  try {
    value = await make((usage) => calls.push(usage));
  } finally {
    const usage = calls.reduce(sum, NO_USAGE);
    const costUsd = costOf(usage, prices);
    await settleCharge(database, charge, charged, { usage, costUsd, steps: calls.length });
    metrics.modelCost(charge.modelId, costUsd);
  }
  const usage = calls.reduce(sum, NO_USAGE);
  return { value, usage, costUsd: costOf(usage, prices) };
}

function sum(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    estimated: a.estimated || b.estimated,
  };
}

/** Reads the limits on a project's spending outside of runs, on models of the operator. */
async function readLimits(
  db: Db,
  { organizationId, projectId, purpose }: Charge,
  cap: OperatorCap,
): Promise<ScopeLimits[]> {
  const found = await db.rowOr<Pick<Budgets, 'project' | 'organization'>>('project_not_found')`
    select ${budgetColumns('p')} as project, ${budgetColumns('o')} as organization
    from projects p join organizations o on o.id = p.organization_id
    where p.id = ${projectId} and o.id = ${organizationId}
  `;
  const routine = { maxTokensPerDay: null, maxCostUsdPerMonth: null };
  const spender = { organizationId, projectId, routineId: purpose, provider: 'gateway' };
  const limits = limitsOf({ ...spender, budgets: { ...found, routine } }, cap);
  return limits.filter(({ scope }) => scope !== 'routine');
}

/**
 * Adds the most that calls outside of a run can use to the totals before the calls are made. Makes no reservation,
 * because each reservation belongs to a run. If the process dies meanwhile, too much is counted, never too little.
 * @throws {AppError} `allowance_exceeded` when a limit leaves less, after the reservations of runs
 */
function chargeBeforehand(
  database: Database,
  limits: readonly ScopeLimits[],
  most: Omit<Charged, 'day'>,
): Promise<Charged> {
  return transaction(database, async (tx) => {
    await tx.run`${addToTotals(sql`(
      select scope_id, ${most.tokens}::bigint as tokens, coalesce(${most.costUsd}::numeric, 0) as cost_usd,
        0::bigint as reserved_tokens, 0::numeric as reserved_cost_usd
      from unnest(${limits.map(({ scopeId }) => scopeId)}::text[]) as scope_id
    )`)}`;
    const [passed] = await tx.rows<PassedLimit>`
      select passed.* from jsonb_to_recordset(${JSON.stringify(limits)}::jsonb)
        as l("scopeId" text, scope text, "costScope" text, "maxTokensPerDay" bigint, "maxCostUsdPerMonth" numeric)
      join usage_totals t on t.scope_id = l."scopeId"
      cross join lateral (
        select l.scope as scope, 'maxTokensPerDay' as name, l."maxTokensPerDay"::text as max
        where l."maxTokensPerDay" - ${spentToday} - t.reserved_tokens < 0
        union all
        select l."costScope", 'maxCostUsdPerMonth', trim_scale(l."maxCostUsdPerMonth")::text
        where l."maxCostUsdPerMonth" - ${spentThisMonth} - t.reserved_cost_usd < 0
      ) passed
    `;
    if (passed !== undefined) throw new AppError('allowance_exceeded', tooLittleLeft(passed));
    return { ...most, day: await tx.value<string>`select ${today}::text` };
  });
}

/** Takes back the charge above the real usage, and adds the real usage to the project's usage of that day. */
async function settleCharge(
  db: Db,
  { organizationId, projectId, modelId, purpose }: Charge,
  charged: Charged,
  used: { readonly usage: Usage; readonly costUsd: string | null; readonly steps: number },
): Promise<void> {
  const { usage, costUsd, steps } = used;
  const day = sql`${charged.day}::date`;
  const tokens = sql`(${charged.tokens}::bigint - ${totalTokens(usage)}::bigint)`;
  const cost = sql`(coalesce(${charged.costUsd}::numeric, 0) - coalesce(${costUsd}::numeric, 0))`;
  await db.run`
    with locked as materialized (
      select scope_id from usage_totals where scope_id = any(${[organizationId, projectId]}::text[])
      order by scope_id for no key update
    ), taken_back as (
      update usage_totals t set
        day_tokens = t.day_tokens - case when t.day = ${day} then ${tokens} else 0 end,
        month_tokens = t.month_tokens - case when t.month = date_trunc('month', ${day}) then ${tokens} else 0 end,
        month_cost_usd = t.month_cost_usd - case when t.month = date_trunc('month', ${day}) then ${cost} else 0 end
      from locked where t.scope_id = locked.scope_id
    )
    insert into usage_days as d (project_id, day, routine_id, model_id, input_tokens, cached_input_tokens,
      output_tokens, reasoning_tokens, cost_usd, steps)
    select ${projectId}, ${day}, ${purpose}, ${modelId}, ${usage.inputTokens}, ${usage.cachedInputTokens},
      ${usage.outputTokens}, ${usage.reasoningTokens}, ${costUsd}::numeric, ${steps}::bigint
    where ${steps}::bigint > 0
    ${addedToDay}
  `;
}
