import { row, sql, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterEnd } from './after-end.ts';
import { recordEnd, type EndRunDeps } from './end-run.ts';
import { askedToStop } from './cancel-request.ts';
import { cancellation, type RecordedEnd } from './ending.ts';
import { readRun } from './queries.ts';
import type { Run } from './run.ts';
import type { RunState } from './states.ts';

/**
 * Cancels a run. A queued run ends at once; a running one ends at its next step, or in the middle of a call when
 * Temporal can be reached.
 * @throws {AppError} `run_not_found`, `run_not_cancellable`
 */
export async function cancelRun(deps: EndRunDeps, projectId: string, id: string): Promise<Run> {
  const { run, end } = await requestCancellation(deps.database, projectId, id);
  if (end !== undefined) await afterEnd(deps, end);
  await deps.engine
    .cancelRun(id)
    .catch((err: unknown) =>
      deps.log.warn({ err, runId: id }, 'a tick will repeat the cancellation'),
    );
  return run;
}

/**
 * Records the request, and ends a run that is still queued. The next step and every tick check for the request, so it
 * is carried out even when Temporal cannot be reached now.
 */
function requestCancellation(
  database: Database,
  projectId: string,
  id: string,
): Promise<{ run: Run; end: RecordedEnd | undefined }> {
  return transaction(database, async (tx) => {
    const asked = await row<{ state: RunState }>(
      tx,
      sql`
        update runs set ${askedToStop(cancellation)}
        where id = ${id} and project_id = ${projectId} and state in ('queued', 'running')
        returning state
      `,
    );
    if (asked === undefined) {
      await readRun(tx, projectId, id);
      throw new AppError('run_not_cancellable');
    }
    const end = asked.state === 'queued' ? await recordEnd(tx, id, cancellation) : undefined;
    return { run: await readRun(tx, projectId, id), end };
  });
}
