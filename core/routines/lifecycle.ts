import { databaseTime, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { assertMayActivate, type Plan } from '#core/billing/index.ts';
import { nextOccurrence, parseStoredSchedule } from '#core/scheduling/index.ts';
import { hasProofRun, lockRoutine, moveRoutine } from './queries.ts';
import type { Routine } from './routine.ts';

/**
 * Puts the routine on its schedule. Activating an active routine changes nothing.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `successful_run_required`, `allowance_exceeded`
 */
export function activateRoutine(
  database: Database,
  input: { projectId: string; organizationId: string; plan: Plan; id: string },
): Promise<Routine> {
  return transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, input.projectId, input.id);
    if (routine.state === 'archived') throw new AppError('routine_archived');
    if (routine.state === 'active') return routine;
    if (!(await hasProofRun(tx, routine))) throw new AppError('successful_run_required');
    await assertMayActivate(tx, input.organizationId, input.plan);
    const schedule = parseStoredSchedule(routine.schedule);
    return moveRoutine(tx, routine.id, {
      state: 'active',
      nextRunAt: nextOccurrence(schedule, routine.timezone, await databaseTime(tx)),
    });
  });
}

/** Takes the routine off its schedule. @throws {AppError} `routine_not_found`, `routine_archived` */
export function pauseRoutine(database: Database, projectId: string, id: string): Promise<Routine> {
  return transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (routine.state === 'archived') throw new AppError('routine_archived');
    if (routine.state === 'paused') return routine;
    return moveRoutine(tx, id, { state: 'paused', nextRunAt: null });
  });
}

/** Archives for good; runs and their history stay. Archiving again changes nothing. */
export function archiveRoutine(
  database: Database,
  projectId: string,
  id: string,
): Promise<Routine> {
  return transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (routine.state === 'archived') return routine;
    return moveRoutine(tx, id, { state: 'archived', nextRunAt: null });
  });
}
