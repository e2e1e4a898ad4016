import { setTimeout as sleep } from 'node:timers/promises';
import { rows, sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import type { AfterEndDeps } from './after-end.ts';
import { cancellation } from './ending.ts';
import { afterReplacing, cancelOpenRuns } from './replace.ts';

/** Time for which runs are tried again that somebody else has locked, as the record of a step does for a moment. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 50;

/**
 * Cancels the open runs of routines, whoever started them, in transactions of its own. Those that are locked are passed by
 * and tried again: nothing else would stop them.
 */
export async function stopRuns(
  deps: AfterEndDeps & { readonly database: Database },
  routineIds: readonly string[],
): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  let which = sql`true`;
  for (;;) {
    const chosen = which;
    const cancelled = await transaction(deps.database, (tx) =>
      cancelOpenRuns(tx, routineIds, { ending: cancellation, which: chosen }),
    );
    await afterReplacing(deps, cancelled);
    const missed = await findMissed(deps.database, routineIds, which);
    if (missed.length === 0) return;
    if (performance.now() > end) {
      deps.log.error({ runIds: missed }, 'runs that are to stop are locked for long and go on');
      return;
    }
    // Only those: a run that somebody starts meanwhile is wanted.
    which = sql`id = any(${missed})`;
    await sleep(PAUSE_MS);
  }
}

async function findMissed(db: Db, routineIds: readonly string[], which: Sql): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`
      select id from runs
      where routine_id = any(${routineIds}) and state in ('queued', 'running') and cancel_requested_at is null and ${which}
    `,
  );
  return found.map(({ id }) => id);
}
