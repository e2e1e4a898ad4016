import { notifyPaused } from '#core/notifications/index.ts';
import { pauseEnded, pauseUnreadable } from '#core/routines/index.ts';
import { followPause } from '#core/runs/index.ts';
import type { Db } from '#lib/database/index.ts';

/** Routines that cannot go on, by reason. */
export interface Stopped {
  /** Routines whose stored schedule this process cannot compute. */
  readonly unreadable: readonly Unreadable[];
  /** Ids of the routines whose window is over. */
  readonly ended: readonly string[];
}

export interface Unreadable {
  readonly id: string;
  /** The occurrence that could not run because of it; null when none was due. */
  readonly runId: string | null;
}

/**
 * Pauses routines whose rows the transaction has locked, with the events and mails that follow. The caller calls
 * `kickDeliveries` after its commit.
 */
export async function pauseWithNews(tx: Db, { unreadable, ended }: Stopped): Promise<void> {
  const ids = unreadable.map(({ id }) => id);
  const runIds = new Map(unreadable.map(({ id, runId }) => [id, runId]));
  const stopped = await pauseUnreadable(tx, ids);
  await followPause(tx, stopped, runIds);
  const over = await pauseEnded(tx, ended);
  await followPause(tx, over);
  await notifyPaused(tx, [...stopped, ...over], runIds);
}
