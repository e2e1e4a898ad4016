import { giveUpDeliveries } from '#core/webhooks/index.ts';
import { execute, row, sql, type Database, type Db } from '#lib/database/index.ts';
import { applyToBatch } from './batch.ts';
import { CONTENT } from './stage.ts';

/**
 * Erases the content of all runs of a project that is being deleted, at once and in batches: pinned ones too, and without
 * waiting for webhook deliveries, which are given up. The rows themselves go by retention. May be broken off and called
 * again at any time.
 * @returns how many runs were erased, and how many still have their content: open ones, which their caller cancels first
 */
export async function eraseProjectContent(
  database: Database,
  projectId: string,
  signal: AbortSignal,
): Promise<{ erased: number; left: number }> {
  signal.throwIfAborted();
  await giveUpDeliveries(database, projectId);
  await unpinRuns(database, projectId);
  let erased = 0;
  for (let from: Date | undefined, more = true; more;) {
    signal.throwIfAborted();
    const batch = await applyToBatch(database, CONTENT, { projectId, days: 0 }, from);
    erased += batch.done;
    ({ until: from, more } = batch);
  }
  return { erased, left: await countContent(database, projectId) };
}

/** Lets the runs of a project that is deleted go with its other ones. */
export async function unpinRuns(db: Db, projectId: string): Promise<void> {
  await execute(db, sql`update runs set pinned = false where project_id = ${projectId} and pinned`);
}

async function countContent(database: Database, projectId: string): Promise<number> {
  const found = await row<{ left: number }>(
    database,
    sql`
      select
        (select count(*) from runs
          where project_id = ${projectId} and ${CONTENT.next} and finished_at is not null)
        + (select count(*) from runs
          where project_id = ${projectId} and state in ('queued', 'running')) as left
    `,
  );
  return found?.left ?? 0;
}
