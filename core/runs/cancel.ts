import { row, sql, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { PendingDelivery } from '#core/webhooks/index.ts';
import { cancellation, endRun } from './end-run.ts';
import { readRun } from './queries.ts';
import type { Run } from './run.ts';

/**
 * Asks a run to stop. One that has not begun ends here; for one under way the wish is recorded, which the next step
 * and every tick look at, so that it holds even when Temporal cannot be reached now.
 * @throws {AppError} `run_not_found`, `run_not_cancellable`
 */
export function requestCancellation(
  database: Database,
  projectId: string,
  id: string,
): Promise<{ run: Run; delivery: PendingDelivery | undefined }> {
  return transaction(database, async (tx) => {
    const asked = await row<{ state: string }>(
      tx,
      sql`
        update runs set cancel_requested_at = coalesce(cancel_requested_at, now())
        where id = ${id} and project_id = ${projectId} and state in ('queued', 'running')
        returning state
      `,
    );
    if (asked === undefined) {
      await readRun(tx, projectId, id);
      throw new AppError('run_not_cancellable');
    }
    const ended = asked.state === 'queued' ? await endRun(tx, id, cancellation) : undefined;
    return { run: await readRun(tx, projectId, id), delivery: ended?.delivery };
  });
}
