import { eachApart, rows, sql, transaction, type Database } from '#lib/database/index.ts';
import type { AfterEndDeps } from './after-end.ts';
import { cancellation } from './ending.ts';
import { afterReplacing, cancelOpenRuns, type ReplacedRuns } from './replace.ts';

/**
 * Cancels the open runs of routines, whoever started them. Each has a transaction of its own, which waits for its row:
 * whoever holds that needs nothing else that is held here. A run that somebody starts meanwhile is wanted.
 * @throws the first error of a run that could not be stopped, after the others were
 */
export async function stopRuns(
  deps: AfterEndDeps & { readonly database: Database },
  routineIds: readonly string[],
): Promise<void> {
  const open = await rows<{ id: string }>(
    deps.database,
    sql`
      select id from runs
      where routine_id = any(${routineIds}) and state in ('queued', 'running') and cancel_requested_at is null
      order by id
    `,
  );
  const stopped: ReplacedRuns[] = [];
  const stop = async ({ id }: { readonly id: string }) => {
    const which = sql`id = ${id}`;
    stopped.push(
      await transaction(deps.database, (tx) =>
        cancelOpenRuns(tx, routineIds, { ending: cancellation, which, waits: true }),
      ),
    );
  };
  try {
    await eachApart(open, stop, {
      failed: (err, { id: runId }) => deps.log.error({ err, runId }, 'a run could not be stopped'),
    });
  } finally {
    // Those that have been stopped are followed up, whatever became of the others.
    await afterReplacing(deps, {
      ends: stopped.flatMap(({ ends }) => ends),
      cancelled: stopped.flatMap(({ cancelled }) => cancelled),
    });
  }
}
