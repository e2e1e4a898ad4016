import type { Core } from '#core/core.ts';
import { SCHEDULE_ENDED } from '#core/authoring/routines/index.ts';
import { recordProjectAudit, SYSTEM } from '#core/foundation/audit/index.ts';
import type { PausedRoutine } from '#core/events.ts';
import { enqueuePaused } from '#core/delivery/webhooks/index.ts';
import { afterCommit, type Db } from '#lib/database/index.ts';
import type { Admission } from '#core/execution/admission/index.ts';
import { skip } from '#core/execution/run-states/index.ts';

/** Reasons against running a queued run: its routine was paused, changed or archived. */
type UnwantedReason = 'paused' | 'superseded' | 'archived';

/**
 * Skips the waiting runs of routines, in the transaction that pauses, changes or archives them. A locked run is left to
 * the step that begins it: waiting could deadlock, as the end of a run locks the run before its routine.
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

type SkipDeps = Pick<Core, 'metrics'> & { readonly admission: Pick<Admission, 'nudge'> };

/**
 * Skips scheduled runs of routines that have not begun, and for an archived routine also runs that people started.
 * After the commit, counts the skipped runs and admits other runs.
 */
export async function skipQueued(
  { metrics, admission }: SkipDeps,
  tx: Db,
  { routineIds, reason }: { readonly routineIds: readonly string[]; readonly reason: UnwantedReason },
): Promise<void> {
  const runIds = await skipUnwanted(tx, routineIds, reason);
  if (runIds.length === 0) return;
  afterCommit(tx, () => {
    for (const _ of runIds) metrics.runEnded(skip(reason));
    admission.nudge();
  });
}

type PauseDeps = SkipDeps & Pick<Core, 'work'>;

/**
 * Records pauses by the service, in their transaction: skips waiting scheduled runs unless the schedule has merely
 * ended, and queues the webhook events. The caller mails, so that a failed run and its pause are one mail.
 * @param runIds the run that caused the pause, by routine
 */
export async function followPauses(
  deps: PauseDeps,
  tx: Db,
  paused: readonly PausedRoutine[],
  runIds: ReadonlyMap<string, string | null> = new Map(),
): Promise<void> {
  const stopped = paused.filter(({ stateReason }) => stateReason !== SCHEDULE_ENDED);
  await skipQueued(deps, tx, { routineIds: stopped.map(({ id }) => id), reason: 'paused' });
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
    await enqueuePaused(deps, tx, routine, runId);
  }
}
