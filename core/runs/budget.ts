import { Big } from 'big.js';
import { rows, sql, type Db } from '#lib/database/index.ts';

export interface BudgetedRoutine {
  readonly routineId: string;
  readonly maxTokensPerDay: number | null;
  readonly maxCostUsdPerMonth: string | null;
}

/** Whether the routine has reached its tokens of today or its cost of this month, both UTC. */
export async function isOverBudget(db: Db, routine: BudgetedRoutine): Promise<boolean> {
  if (routine.maxTokensPerDay === null && routine.maxCostUsdPerMonth === null) return false;
  return (await overBudget(db, [routine])).has(routine.routineId);
}

/** Those of the routines that are over their budget, in one statement. */
export async function overBudget(
  db: Db,
  routines: readonly BudgetedRoutine[],
): Promise<ReadonlySet<string>> {
  const budgeted = routines.filter(
    (routine) => routine.maxTokensPerDay !== null || routine.maxCostUsdPerMonth !== null,
  );
  if (budgeted.length === 0) return new Set();
  const spent = await rows<{ routineId: string; tokensToday: number; costThisMonth: string }>(
    db,
    sql`
      select routine_id as "routineId",
        coalesce(sum(total_tokens) filter (
          where occurred_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'), 0)::bigint
          as "tokensToday",
        coalesce(sum(cost_usd), 0)::text as "costThisMonth"
      from usage_ledger
      where routine_id = any(${budgeted.map(({ routineId }) => routineId)})
        and occurred_at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc'
      group by routine_id
    `,
  );
  const byRoutine = new Map(spent.map((row) => [row.routineId, row]));
  return new Set(
    budgeted
      .filter((routine) => {
        const use = byRoutine.get(routine.routineId);
        const tokens = use?.tokensToday ?? 0;
        const cost = new Big(use?.costThisMonth ?? 0);
        return (
          (routine.maxTokensPerDay !== null && tokens >= routine.maxTokensPerDay) ||
          (routine.maxCostUsdPerMonth !== null && cost.gte(routine.maxCostUsdPerMonth))
        );
      })
      .map(({ routineId }) => routineId),
  );
}
