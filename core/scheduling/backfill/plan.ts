import { type RetentionRule, runDaysOf } from '#core/accounts/settings/index.ts';
import { hasProofRun, type Routine } from '#core/authoring/routines/index.ts';
import { isOver, timetableOf, withoutJitter } from '#core/foundation/timetable/index.ts';
import { occurrences } from '#core/execution/runs/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError, invalid, type Fault } from '#lib/errors.ts';
import { nextInTimetable, ScheduleError } from '#lib/schedule/index.ts';

/** How many instants of the window get no run, by reason. */
export interface LeftOut {
  /** Number of instants that have a run, by schedule or by hand. */
  readonly alreadyRan: number;
  /** Number of instants that have a run of an earlier backfill. */
  readonly alreadyBackfilled: number;
  /** Number of instants that the schedule itself is about to claim. */
  readonly stillDue: number;
}

export interface BackfillPlan {
  /** Instants that get a run, ascending. */
  readonly instants: readonly Date[];
  /** Runs that an earlier attempt of the same request has created. */
  readonly made: readonly { readonly id: string; readonly scheduledFor: Date }[];
  readonly leftOut: LeftOut;
  readonly nextFrom: Date | null;
}

interface PlannedWindow extends PastWindow {
  /** Id of the backfill; undefined for a forecast. */
  readonly backfillId: string | undefined;
  readonly max: number;
}

/**
 * Plans the runs of a backfill: the instants of the window, without instants that have a run on record and instants
 * that the schedule is about to claim.
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
  // Require a proof, as activation does, so that a version is proven before it runs two hundred times.
  if (!(await hasProofRun(db, routine))) throw new AppError('successful_run_required');
  const past = pastInstants(routine, window, max);
  const dueFrom = firstDue(routine);
  const made: { id: string; scheduledFor: Date }[] = [];
  const instants: Date[] = [];
  const leftOut = { alreadyRan: 0, alreadyBackfilled: 0, stillDue: 0 };
  for (const found of await occurrences.readOnRecord(db, id, past.instants)) {
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

/** Returns the first instant that the schedule claims by itself. A backfill ends before this instant. */
function firstDue(routine: Routine): Date | undefined {
  const { state, nextRunAt } = routine;
  if (state !== 'active' || nextRunAt === null || isOver(routine, nextRunAt)) return undefined;
  return withoutJitter(routine, nextRunAt);
}

/** A window in the past. Both ends belong to it. */
export interface PastWindow {
  readonly from: Date;
  readonly to: Date;
}

interface PastInstants {
  /** The first instants of the schedule in the window, ascending. */
  readonly instants: readonly Date[];
  /** The first instant of the window after `instants`; null when the window has no more. */
  readonly nextFrom: Date | null;
}

/**
 * Returns the first `max` instants in a window, by the routine's present schedule.
 * @throws {AppError} `invalid_schedule` when the schedule can no longer be computed
 */
function pastInstants(routine: Routine, { from, to }: PastWindow, max: number): PastInstants {
  try {
    const timetable = timetableOf(routine);
    const instants: Date[] = [];
    let next = nextInTimetable(timetable, new Date(from.getTime() - 1));
    while (next !== undefined && next <= to && instants.length < max) {
      instants.push(next);
      next = nextInTimetable(timetable, next);
    }
    return { instants, nextFrom: next !== undefined && next <= to ? next : null };
  } catch (error) {
    if (error instanceof ScheduleError) throw new AppError('invalid_schedule', error.message);
    throw error;
  }
}

/**
 * Refuses a window that reaches into the future, or back before the oldest runs: earlier runs are unknown.
 * @throws {AppError} `invalid_request`
 */
async function assertPast(
  db: Db,
  { projectId, from, to }: PastWindow & { readonly projectId: string },
  retention: RetentionRule,
): Promise<void> {
  const kept = await db.row<{ now: Date; since: Date }>`
    select now() as now, now() - make_interval(days => ${runDaysOf(retention, sql`p`)}) as since
    from projects p where p.id = ${projectId}
  `;
  if (kept === undefined) throw new AppError('project_not_found');
  const faults: Fault[] = [];
  if (from > to) faults.push({ path: 'from', message: 'must not be later than `to`' });
  if (to > kept.now) faults.push({ path: 'to', message: 'must not be in the future' });
  if (from < kept.since) {
    const message = `must not be before ${kept.since.toISOString()}: older runs are no longer kept, so a backfill could repeat them`;
    faults.push({ path: 'from', message });
  }
  if (faults.length > 0) throw invalid(faults);
}
