import type { RetentionRule } from '#core/identity/index.ts';
import { hasProofRun, isOver, withoutJitter, type Routine } from '#core/routines/index.ts';
import { readOnRecord, type BackfillRun } from '#core/runs/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { assertPast, pastInstants, type PastWindow } from './past-instants.ts';

/** Counts of the instants of the window that get no run, by reason. */
export interface LeftOut {
  /** Instants that have a run, by schedule or by hand. */
  readonly alreadyRan: number;
  /** Instants that have a run of an earlier backfill. */
  readonly alreadyBackfilled: number;
  /** Instants that the schedule itself is about to claim. */
  readonly stillDue: number;
}

export interface BackfillPlan {
  /** Instants that get a run, ascending. */
  readonly instants: readonly Date[];
  /** Runs that an earlier attempt of the same request has created. */
  readonly made: readonly BackfillRun[];
  readonly leftOut: LeftOut;
  readonly nextFrom: Date | null;
}

export interface PlannedWindow extends PastWindow {
  /** Undefined while it is only forecast. */
  readonly backfillId: string | undefined;
  readonly max: number;
}

/**
 * Plans the runs of a backfill: the instants of the schedule in the window, without those that are recorded or about to
 * be.
 * @throws {AppError} `routine_archived`, `invalid_request`, `successful_run_required`, `invalid_schedule`
 */
export async function planBackfill(
  db: Db,
  routine: Routine,
  { backfillId, max, ...window }: PlannedWindow,
  retention: RetentionRule,
): Promise<BackfillPlan> {
  const { id, projectId } = routine;
  if (routine.state === 'archived') throw new AppError('routine_archived');
  await assertPast(db, { ...window, projectId }, retention);
  // As activation does: what nobody has seen succeed is not done two hundred times.
  if (!(await hasProofRun(db, routine))) throw new AppError('successful_run_required');
  const past = pastInstants(routine, window, max);
  const dueFrom = firstDue(routine);
  const made: BackfillRun[] = [];
  const instants: Date[] = [];
  const leftOut = { alreadyRan: 0, alreadyBackfilled: 0, stillDue: 0 };
  for (const found of await readOnRecord(db, id, past.instants)) {
    const { scheduledFor, backfillRunId } = found;
    if (backfillRunId !== null && found.backfillId === backfillId) {
      made.push({ id: backfillRunId, scheduledFor });
    } else if (backfillRunId !== null) leftOut.alreadyBackfilled += 1;
    else if (found.ran) leftOut.alreadyRan += 1;
    else if (dueFrom !== undefined && scheduledFor >= dueFrom) leftOut.stillDue += 1;
    else instants.push(scheduledFor);
  }
  return { instants, made, leftOut, nextFrom: past.nextFrom };
}

/** Returns the first instant that the schedule itself is going to claim, with all later ones. */
function firstDue(routine: Routine): Date | undefined {
  const { state, nextRunAt } = routine;
  if (state !== 'active' || nextRunAt === null || isOver(routine, nextRunAt)) return undefined;
  return withoutJitter(routine, nextRunAt);
}
