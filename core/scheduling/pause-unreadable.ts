import { pauseUnreadable } from '#core/routines/index.ts';
import { skipUnwanted } from '#core/runs/index.ts';
import { enqueuePaused } from '#core/webhooks/index.ts';
import type { Db } from '#lib/database/index.ts';

/** A routine whose stored schedule this process cannot compute. */
export interface Unreadable {
  readonly id: string;
  /** The occurrence that could not run for it; null when none was due. */
  readonly runId: string | null;
}

/**
 * Pauses routines whose rows the transaction holds, skips what they have queued, and queues the webhook events that tell
 * of it. The caller calls `kickDeliveries` after its commit.
 */
export async function pauseWithNews(tx: Db, unreadable: readonly Unreadable[]): Promise<void> {
  const ids = unreadable.map(({ id }) => id);
  const runs = new Map(unreadable.map(({ id, runId }) => [id, runId]));
  const paused = await pauseUnreadable(tx, ids);
  await skipUnwanted(tx, ids, 'paused');
  for (const routine of paused) {
    await enqueuePaused(tx, { ...routine, runId: runs.get(routine.id) ?? null });
  }
}
