import type { Db } from '#lib/database/index.ts';
import { paused } from './run-ended.ts';
import { readSubscriptions } from './subscription.ts';
import { tell } from './tell.ts';

/**
 * Tells the subscribers of routines that the service has paused, in the transaction that pauses them.
 * @param runIds the run that led to each pause, by routine
 */
export async function notifyPaused(
  tx: Db,
  routines: readonly { readonly id: string; readonly stateReason: string }[],
  runIds: ReadonlyMap<string, string | null> = new Map(),
): Promise<void> {
  if (routines.length === 0) return;
  const byId = new Map(routines.map((routine) => [routine.id, routine]));
  for (const subscription of await readSubscriptions(tx, [...byId.keys()])) {
    const routine = byId.get(subscription.routineId);
    if (routine === undefined) continue;
    const runId = runIds.get(routine.id) ?? null;
    await tell(tx, subscription, { runId, news: [paused(routine.stateReason)] });
  }
}
