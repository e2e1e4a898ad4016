import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { QueuedRuns } from './queued-runs.ts';
import type { RoutineState } from './routine.ts';

/**
 * Archives every routine of a project that is being deleted and forgets its addresses and webhook secrets. Runs that
 * have not begun are skipped.
 * @returns the ids of all its routines
 * @throws {AppError} `routines_active` while one is on its schedule
 */
export async function retireRoutines(
  tx: Db,
  queuedRuns: QueuedRuns,
  projectId: string,
): Promise<readonly string[]> {
  const found = await rows<{ id: string; state: RoutineState }>(
    tx,
    sql`select id, state from routines where project_id = ${projectId} order by id for no key update`,
  );
  if (found.some(({ state }) => state === 'active')) throw new AppError('routines_active');
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return ids;
  await execute(
    tx,
    sql`
      update routines set
        state = 'archived', archived_at = coalesce(archived_at, now()), next_run_at = null,
        webhook_secret = null, webhook_secret_previous = null, webhook_url = null,
        success_ping_url = null, notify_mail = null,
        version = version + 1, updated_at = now()
      where project_id = ${projectId}
    `,
  );
  await queuedRuns.skip(tx, ids, 'archived');
  return ids;
}
