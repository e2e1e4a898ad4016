import type { Core } from '#core/core.ts';
import type { PausedRoutine } from '#core/events.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { routineStatesBefore } from './states.ts';

/** Ids of routines that must be paused, by reason. */
interface Stopped {
  /** Routines whose stored schedule this process cannot compute. */
  readonly unreadable: readonly string[];
  /** Routines whose window is over. */
  readonly ended: readonly string[];
}

/** State reason of a routine whose window is over. Clients can branch on this word. */
export const SCHEDULE_ENDED = 'schedule_ended';

const UNREADABLE = 'paused because its schedule has no computable next time; save the schedule again';

/** Pauses routines that cannot continue. The caller then records the pauses by `followPauses`. */
export async function pauseStopped(tx: Db, { unreadable, ended }: Stopped): Promise<PausedRoutine[]> {
  const paused: PausedRoutine[] = [];
  for (const [ids, reason] of [[unreadable, UNREADABLE] as const, [ended, SCHEDULE_ENDED] as const]) {
    if (ids.length > 0) paused.push(...(await pauseByService(tx, { those: sql`id = any(${ids})`, reason })));
  }
  return paused;
}

/**
 * Pauses the active routines on model accounts, and skips their waiting runs. The caller must not have locked an
 * account yet.
 */
export async function pauseRoutinesOn(
  { emit }: Pick<Core, 'emit'>,
  tx: Db,
  input: { projectId: string; connectionIds: readonly string[]; reason: string },
): Promise<string[]> {
  const { projectId, connectionIds, reason } = input;
  const those = sql`project_id = ${projectId} and model_connection_id = any(${connectionIds}::text[])`;
  const paused = await pauseByService(tx, { those, reason });
  await emit(tx, 'routine.paused_by_service', { paused });
  return paused.map(({ id }) => id);
}

/** Pauses active routines in the order of their ids, so that two callers cannot deadlock. */
function pauseByService(tx: Db, { those, reason }: { those: Sql; reason: string }): Promise<PausedRoutine[]> {
  return tx.rows<PausedRoutine>`
    update routines set state = 'paused', state_reason = ${reason}, next_run_at = null,
      version = version + 1, updated_at = now()
    where id in (
      select id from routines where ${those} and state = any(${routineStatesBefore('paused', 'service')})
      order by id for no key update)
    returning id, project_id as "projectId", name, state_reason as "stateReason", updated_at as "pausedAt",
      webhook_url as "webhookUrl", webhook_failed_at as "webhookFailedAt"
  `;
}
