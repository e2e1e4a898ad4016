import { rows, sql, transaction, type Database } from '#lib/database/index.ts';
import type { AfterEndDeps } from './after-end.ts';
import { cancellation } from './ending.ts';
import { afterReplacing, cancelOpenRuns, type ReplacedRuns } from './replace.ts';

/**
 * Cancels the open runs of routines, whoever started them. Each has a transaction of its own, which waits for its row:
 * whoever holds that needs nothing else that is held here. A run that somebody starts meanwhile is wanted.
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
  for (const { id } of open) {
    const which = sql`id = ${id}`;
    stopped.push(
      await transaction(deps.database, (tx) =>
        cancelOpenRuns(tx, routineIds, { ending: cancellation, which, waits: true }),
      ),
    );
  }
  await afterReplacing(deps, {
    ends: stopped.flatMap(({ ends }) => ends),
    cancelled: stopped.flatMap(({ cancelled }) => cancelled),
  });
}
