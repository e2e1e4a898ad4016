import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import { statesBefore } from './states.ts';

/** Writes the next times of routines whose rows the transaction holds. */
export async function setNextTimes(
  tx: Db,
  next: readonly { readonly id: string; readonly next: Date }[],
): Promise<number> {
  return execute(
    tx,
    sql`
      update routines r set next_run_at = n.next
      from jsonb_to_recordset(${JSON.stringify(next)}::jsonb) as n(id text, next timestamptz)
      where r.id = n.id
    `,
  );
}

/** A routine that the service has paused just now, and the webhook that is told. */
export interface PausedRoutine {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly stateReason: string;
  readonly pausedAt: Date;
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
}

/** Pauses routines whose stored schedule this process cannot compute, and says so. */
export async function pauseUnreadable(tx: Db, ids: readonly string[]): Promise<PausedRoutine[]> {
  if (ids.length === 0) return [];
  return rows<PausedRoutine>(
    tx,
    sql`
      update routines set state = 'paused', next_run_at = null, version = version + 1, updated_at = now(),
        state_reason = 'paused because its schedule has no computable next time; save the schedule again'
      where id = any(${ids}) and state = any(${statesBefore('paused', 'service')})
      returning id, project_id as "projectId", name, state_reason as "stateReason", updated_at as "pausedAt",
        webhook_url as "webhookUrl", webhook_failed_at as "webhookFailedAt"
    `,
  );
}
