import { recordProjectAudit, SYSTEM } from '#core/audit/index.ts';
import type { StartableDelivery } from '#core/engine/index.ts';
import type { PausedRoutine } from '#core/events.ts';
import { SCHEDULE_ENDED } from '#core/routines/index.ts';
import { enqueuePaused } from '#core/webhooks/index.ts';
import type { Db } from '#lib/database/index.ts';
import { tellSkipped, skipUnwanted, type SkipNews } from './unwanted.ts';

export interface FollowedPause {
  /** The queued runs of the routines that are skipped for it. */
  readonly skipped: readonly string[];
  /** The webhook deliveries that report it. */
  readonly deliveries: readonly StartableDelivery[];
}

/**
 * Does what follows whenever the service itself pauses routines, in the transaction that does it: records an audit
 * event, skips their scheduled runs that have not begun, unless their schedules have only ended, and queues the webhook
 * events. The caller calls `kickDeliveries` after its commit, and tells the subscribers, who get one mail of a run that
 * failed and of the pause that it led to.
 * @param runIds the run because of which each was paused, by routine
 */
export async function followPause(
  tx: Db,
  paused: readonly PausedRoutine[],
  runIds: ReadonlyMap<string, string | null> = new Map(),
): Promise<FollowedPause> {
  const deliveries: StartableDelivery[] = [];
  const stopped = paused.filter(({ stateReason }) => stateReason !== SCHEDULE_ENDED);
  const skipped = await skipUnwanted(
    tx,
    stopped.map(({ id }) => id),
    'paused',
  );
  for (const routine of paused) {
    const { id, projectId, stateReason } = routine;
    const runId = runIds.get(id) ?? null;
    await recordProjectAudit(tx, {
      by: SYSTEM,
      projectId,
      action: 'routine.paused',
      targetId: id,
      details: { reason: stateReason, ...(runId === null ? {} : { runId }) },
    });
    const delivery = await enqueuePaused(tx, { ...routine, runId });
    if (delivery !== undefined) deliveries.push(delivery);
  }
  return { skipped, deliveries };
}

/** Follows pauses of a lower subject, and reports the skipped runs once they are committed. */
export async function followPausesByService(
  news: SkipNews,
  tx: Db,
  paused: readonly PausedRoutine[],
): Promise<void> {
  const { skipped } = await followPause(tx, paused);
  tellSkipped(tx, news, { runIds: skipped, reason: 'paused' });
}
