import { runDaysOf, type RetentionRule } from '#core/identity/index.ts';
import { timetableOf, type Routine } from '#core/routines/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError, invalid, type Fault } from '#lib/errors.ts';
import { nextInTimetable, ScheduleError } from '#lib/schedule/index.ts';

/** A window in the past that includes both of its ends. */
export interface PastWindow {
  readonly from: Date;
  readonly to: Date;
}

export interface PastInstants {
  /** The first instants of the schedule in the window, ascending. */
  readonly instants: readonly Date[];
  /** The first instant that is not among them; null when the window holds no more. */
  readonly nextFrom: Date | null;
}

/**
 * Returns the first `max` instants in a window, by the routine's present schedule.
 * @throws {AppError} `invalid_schedule` when the schedule can no longer be computed
 */
export function pastInstants(
  routine: Routine,
  { from, to }: PastWindow,
  max: number,
): PastInstants {
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
 * Refuses a window that is not past, or that begins before the time for which the project keeps its runs: what ran then
 * is no longer known.
 * @throws {AppError} `invalid_request`
 */
export async function assertPast(
  db: Db,
  { projectId, from, to }: PastWindow & { readonly projectId: string },
  retention: RetentionRule,
): Promise<void> {
  const kept = await row<{ now: Date; since: Date }>(
    db,
    sql`
      select now() as now, now() - make_interval(days => ${runDaysOf(retention, sql`p`)}) as since
      from projects p where p.id = ${projectId}
    `,
  );
  if (kept === undefined) throw new AppError('project_not_found');
  const faults: Fault[] = [];
  if (from > to) faults.push({ path: 'from', message: 'must not be later than to' });
  if (to > kept.now) faults.push({ path: 'to', message: 'must not be in the future' });
  if (from < kept.since) {
    const message = `must not be before ${kept.since.toISOString()}: runs of that time are not kept, so what has run then is not known`;
    faults.push({ path: 'from', message });
  }
  if (faults.length > 0) throw invalid(faults);
}
