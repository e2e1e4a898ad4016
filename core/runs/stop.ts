import { sql, transaction, type Database } from '#lib/database/index.ts';
import type { AfterEndDeps } from './after-end.ts';
import { cancellation } from './ending.ts';
import { afterReplacing, cancelOpenRuns } from './replace.ts';

/** Cancels the open runs of routines, whoever started them, in a transaction of its own. */
export async function stopRuns(
  deps: AfterEndDeps & { readonly database: Database },
  routineIds: readonly string[],
): Promise<void> {
  const cancelled = await transaction(deps.database, (tx) =>
    cancelOpenRuns(tx, routineIds, { ending: cancellation, which: sql`true` }),
  );
  await afterReplacing(deps, cancelled);
}
