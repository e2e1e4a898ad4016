import { notifySpending } from '#core/notifications/index.ts';
import { isLimited } from '#core/usage/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import type { RunContext } from './begin-step.ts';
import { recordModelStep, type ModelStepRecord } from './record-step.ts';
import type { PlannedCall } from '#core/tools/index.ts';

type Spender = Pick<RunContext, 'id' | 'routineId' | 'hasAudience' | 'budgets'>;

/**
 * Records a step after which the run goes on, and tells those who follow its budgets what it has spent, in one
 * transaction where there is anybody to tell and in one statement where there is not, as for most runs.
 * @returns false when the step had been recorded or the run had ended before; nothing is changed then
 */
export async function recordStepWithNews(
  database: Database,
  run: Spender,
  record: ModelStepRecord,
  calls: readonly PlannedCall[],
): Promise<boolean> {
  if (!isWatched(run)) return recordModelStep(database, record, calls);
  return transaction(database, async (tx) => {
    const recorded = await recordModelStep(tx, record, calls);
    if (recorded) await tellSpending(tx, run);
    return recorded;
  });
}

/** Tells those who follow the budgets of a run what a step of it has spent. */
export async function tellSpending(tx: Db, run: Spender): Promise<void> {
  if (isWatched(run)) await notifySpending(tx, { runId: run.id, routineId: run.routineId });
}

function isWatched({ hasAudience, budgets }: Spender): boolean {
  return hasAudience && Object.values(budgets).some(isLimited);
}
