import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import { databaseTime, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { assertMayActivate, type Plan } from '#core/billing/index.ts';
import { isOver, nextTimeFrom } from './next-times.ts';
import { hasProofRun } from './proof.ts';
import { lockRoutine, readRoutine, type ProvenRoutine } from './queries.ts';
import type { QueuedRuns } from './queued-runs.ts';
import type { Routine } from './routine.ts';
import { statesBefore, type StateMove } from './states.ts';
import { moveRoutine } from './writes.ts';

export interface ActivationInput {
  readonly projectId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly id: string;
  /** Judges a routine that could be activated, before its row is locked, as that may take a request. */
  readonly judge?: (routine: ProvenRoutine) => Promise<AppError | undefined>;
}

/**
 * Puts the routine on its schedule. Activating an active routine changes nothing.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `successful_run_required`, `schedule_ended`,
 * `allowance_exceeded`, and the verdict of `judge`
 */
export async function activateRoutine(
  database: Database,
  by: Actor,
  input: ActivationInput,
): Promise<Routine> {
  const seen = await readRoutine(database, input.projectId, input.id);
  const mayMove = statesBefore('active').includes(seen.state) && seen.proofRunId !== null;
  const refusal = mayMove ? await input.judge?.(seen) : undefined;
  const activated = await transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, input.projectId, input.id);
    if (!hasToMove(routine, 'active')) return routine;
    // Somebody else changed it in between: what was judged is not what would run, so start again.
    if (routine.version !== seen.version) return undefined;
    if (!(await hasProofRun(tx, routine))) throw new AppError('successful_run_required');
    const nextRunAt = nextTimeFrom(routine, await databaseTime(tx));
    if (isOver(routine, nextRunAt)) throw scheduleEnded(routine);
    await assertMayActivate(tx, input.organizationId, input.plan);
    if (refusal !== undefined) throw refusal;
    const active = await moveRoutine(tx, routine, { state: 'active', nextRunAt });
    const { id, projectId, revision } = routine;
    await recordProjectAudit(tx, {
      by,
      projectId,
      action: 'routine.activated',
      targetId: id,
      details: { revision },
    });
    return active;
  });
  return activated ?? activateRoutine(database, by, input);
}

export interface StopDeps {
  readonly database: Database;
  readonly queuedRuns: QueuedRuns;
}

/**
 * Takes the routine off its schedule; its scheduled runs that have not begun are skipped.
 * @throws {AppError} `routine_not_found`, `routine_archived`
 */
export function pauseRoutine(
  deps: StopDeps,
  by: Actor,
  projectId: string,
  id: string,
): Promise<Routine> {
  return stopRoutine(deps, by, { projectId, id, state: 'paused' });
}

/**
 * Archives for good; runs and their history stay, those that have not begun are skipped. Archiving again changes
 * nothing.
 * @throws {AppError} `routine_not_found`
 */
export function archiveRoutine(
  deps: StopDeps,
  by: Actor,
  projectId: string,
  id: string,
): Promise<Routine> {
  return stopRoutine(deps, by, { projectId, id, state: 'archived' });
}

function stopRoutine(
  { database, queuedRuns }: StopDeps,
  by: Actor,
  { projectId, id, state }: { projectId: string; id: string; state: 'paused' | 'archived' },
): Promise<Routine> {
  return transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (!hasToMove(routine, state)) return routine;
    const stopped = await moveRoutine(tx, routine, { state, nextRunAt: null });
    await queuedRuns.skip(tx, [id], state);
    await recordProjectAudit(tx, { by, projectId, action: `routine.${state}`, targetId: id });
    return stopped;
  });
}

function scheduleEnded({ endsAt }: Routine): AppError {
  const message = `The schedule has no time left up to endsAt, ${endsAt?.toISOString()}: change endsAt first.`;
  return new AppError('schedule_ended', message);
}

/** Tells whether the routine still has to be moved to `to`. @throws {AppError} `routine_archived` */
function hasToMove({ state }: Routine, to: StateMove): boolean {
  if (state === to) return false;
  if (!statesBefore(to).includes(state)) throw new AppError('routine_archived');
  return true;
}
