import type { Db } from '#lib/database/index.ts';
import { findCrossings, routineBudgetNews, tellOfSharedBudgets } from './budgets.ts';
import { readSubscriptions } from './subscription.ts';
import { tell } from './tell.ts';

/**
 * Tells of the budgets of which a step has used four fifths, or all, in the transaction that settles it: its run may go
 * on for long. A share is told of once in its period, so the end of the run tells of none of them again.
 */
export async function notifySpending(
  tx: Db,
  { runId, routineId }: { runId: string; routineId: string },
): Promise<void> {
  const [subscription] = await readSubscriptions(tx, [routineId]);
  if (subscription === undefined) return;
  const crossings = await findCrossings(tx, subscription, undefined);
  await tell(tx, subscription, { runId, news: routineBudgetNews(crossings) });
  await tellOfSharedBudgets(tx, subscription, { runId, crossings });
}
