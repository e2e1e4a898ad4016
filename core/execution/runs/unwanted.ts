import type { Core } from '#core/core.ts';
import { notBeforeOf } from '#core/models/connections/index.ts';
import { SCHEDULE_ENDED } from '#core/authoring/routines/index.ts';
import { recordProjectAudit, SYSTEM } from '#core/foundation/audit/index.ts';
import type { StartableDelivery } from '#core/foundation/engine/index.ts';
import type { PausedRoutine } from '#core/events.ts';
import { enqueuePaused } from '#core/delivery/webhooks/index.ts';
import { sql, afterCommit, type Db } from '#lib/database/index.ts';
import type { Admission } from '#core/execution/admission/index.ts';
import { skip } from '#core/execution/run-states/index.ts';

/** Why a queued run is no longer wanted: its routine was paused, changed or archived. */
type UnwantedReason = 'paused' | 'superseded' | 'archived';

/**
 * Selects why a run that has not begun is no longer wanted; null when it is wanted. Reads `runs`, and its routine as
 * `r`. A scheduled run is wanted while its version is the proven one of an active routine; a manual run keeps the
 * version that it was started with.
 */
export const unwantedReason = sql`case
  when runs.state <> 'queued' then null
  when r.state = 'archived' then 'archived'
  when runs.trigger <> 'schedule' then null
  when r.revision <> runs.routine_revision then 'superseded'
  -- What fell due inside its window still runs when the window is over.
  when r.state <> 'active' and (r.state, r.state_reason) is distinct from ('paused', ${SCHEDULE_ENDED}) then 'paused'
  -- The allowance was used up after the occurrence was claimed; the later ones are passed over by then.
  when runs.model_connection_id is not null and ${notBeforeOf(sql`runs.model_connection_id`)} > now()
    then 'provider_unavailable'
end`;

/**
 * Skips the waiting runs of routines, in the transaction that pauses, changes or archives the routines. A locked run is
 * left alone: the step that begins it looks at the routine again, and waiting for it could deadlock, because the end of
 * a run locks the run before its routine.
 * @returns the skipped runs
 */
async function skipUnwanted(tx: Db, routineIds: readonly string[], reason: UnwantedReason): Promise<string[]> {
  if (routineIds.length === 0) return [];
  const ending = skip(reason);
  const skipped = await tx.rows<{ id: string }>`
    with unwanted as (
      select id from runs
      where routine_id = any(${routineIds}) and state = 'queued'
        and (trigger = 'schedule' or ${reason === 'archived'}::boolean)
      for no key update skip locked
    )
    update runs set state = ${ending.state}, reason = ${ending.reason}, error_message = ${ending.errorMessage},
      finished_at = now()
    from unwanted where runs.id = unwanted.id
    returning runs.id
  `;
  return skipped.map(({ id }) => id);
}

interface SkipNews extends Pick<Core, 'metrics'> {
  readonly admission: Pick<Admission, 'nudge'>;
}

/**
 * Skips the scheduled runs of routines that have not begun, and those that people started too when the routine is
 * archived. After the commit, reports them and admits others.
 */
export async function skipQueued(
  news: SkipNews,
  tx: Db,
  { routineIds, reason }: { readonly routineIds: readonly string[]; readonly reason: UnwantedReason },
): Promise<void> {
  tellSkipped(tx, news, { runIds: await skipUnwanted(tx, routineIds, reason), reason });
}

/** Counts skipped runs after the commit, and admits others. */
function tellSkipped(
  tx: Db,
  { metrics, admission }: SkipNews,
  { runIds, reason }: { readonly runIds: readonly string[]; readonly reason: UnwantedReason },
): void {
  if (runIds.length === 0) return;
  afterCommit(tx, () => {
    for (const _ of runIds) metrics.runEnded(skip(reason));
    admission.nudge();
  });
}

interface FollowedPause {
  /** The queued runs of the routines that are skipped because of the pause. */
  readonly skipped: readonly string[];
  /** The webhook deliveries that report the pause. */
  readonly deliveries: readonly StartableDelivery[];
}

/**
 * Records pauses that the service makes by itself, in their transaction: writes an audit event, skips waiting scheduled
 * runs unless the schedule has merely ended, and queues the webhook events. The caller calls `kickDeliveries` after its
 * commit and mails the subscribers, who get one mail about a failed run and the pause that it caused.
 * @param runIds by routine, the run because of which it was paused
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

/** Does what `followPause` does, and reports the skipped runs after the commit. */
export async function followPausesByService(
  news: SkipNews,
  tx: Db,
  paused: readonly PausedRoutine[],
  runIds?: ReadonlyMap<string, string | null>,
): Promise<void> {
  const { skipped } = await followPause(tx, paused, runIds);
  tellSkipped(tx, news, { runIds: skipped, reason: 'paused' });
}
