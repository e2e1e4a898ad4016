import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { runColumns, type Run } from '#core/execution/runs/index.ts';

/** Limit of pinned runs in a project. */
export const MAX_PINNED = 1_000;

/**
 * Pins a run, so that it is kept with its content beyond the retention of its project, or unpins it. Erased content
 * stays erased.
 * @throws {AppError} `run_not_found`, `allowance_exceeded` when the project has its most pinned runs
 */
export function pinRun(
  database: Database,
  by: Actor,
  input: { projectId: string; id: string; pinned: boolean },
): Promise<Run> {
  const { projectId, id, pinned } = input;
  return transaction(database, async (tx) => {
    // One at a time in a project, so that two that count at the same moment cannot pass the limit together.
    if (pinned) await lockPins(tx, projectId);
    const found = await tx.row<Run & { was: boolean }>`
      with before as (
        select id as "pinnedId", pinned as was from runs where id = ${id} and project_id = ${projectId} for update
      )
      update runs set pinned = ${pinned} from before
      where id = before."pinnedId" and project_id = ${projectId}
        and exists (select from projects p where p.id = ${projectId} and p.deleted_at is null)
      returning ${runColumns}, was
    `;
    if (found === undefined) throw new AppError('run_not_found');
    if (pinned && (await countPinned(tx, projectId)) > MAX_PINNED) {
      throw new AppError('allowance_exceeded', `A project can have ${MAX_PINNED} pinned runs.`);
    }
    const { was, ...run } = found;
    if (was !== pinned) {
      const action = pinned ? 'run.pinned' : 'run.unpinned';
      const details = { routineId: run.routineId };
      await recordProjectAudit(tx, { by, projectId, action, targetId: id, details });
    }
    return run;
  });
}

/** Unpins all runs of a project that is being deleted. */
export async function unpinRuns(tx: Db, projectId: string): Promise<void> {
  await lockPins(tx, projectId);
  await tx.run`update runs set pinned = false where project_id = ${projectId} and pinned`;
}

async function lockPins(tx: Db, projectId: string): Promise<void> {
  await tx.row`select pg_advisory_xact_lock(hashtextextended('ras:pin:' || ${projectId}, 0))`;
}

async function countPinned(db: Db, projectId: string): Promise<number> {
  const found = await db.row<{
    count: number;
  }>`select count(*) as count from runs where project_id = ${projectId} and pinned`;
  return found?.count ?? 0;
}
