import { databaseTime, type Db } from '#lib/database/index.ts';
import { invalid, type Fault } from '#lib/errors.ts';
import { maxJitterSeconds, parseStoredSchedule } from '#lib/schedule/index.ts';
import type { RoutineFields } from './routine.ts';

/**
 * Checks window and jitter against the schedule, which is known to be valid, and the end against the clock that claims
 * go by, so that nothing that is due is lost to it.
 * @param before what the routine had; an end that has passed since does not block another change
 * @throws {AppError} `invalid_request`
 */
export async function checkTiming(
  db: Db,
  fields: Pick<RoutineFields, 'schedule' | 'startsAt' | 'endsAt' | 'jitterSeconds'>,
  before: Pick<RoutineFields, 'endsAt'> | undefined,
): Promise<void> {
  const faults = timingFaults(fields);
  const { endsAt } = fields;
  if (endsAt !== null && endsAt.getTime() !== before?.endsAt?.getTime()) {
    if (endsAt <= (await databaseTime(db))) {
      faults.push({ path: 'endsAt', message: 'must not be in the past' });
    }
  }
  if (faults.length > 0) throw invalid(faults);
}

/** Returns what is wrong with window and jitter whatever the time is, for a schedule that is known to be valid. */
export function timingFaults({
  schedule,
  startsAt,
  endsAt,
  jitterSeconds,
}: Pick<RoutineFields, 'schedule' | 'startsAt' | 'endsAt' | 'jitterSeconds'>): Fault[] {
  const faults: Fault[] = [];
  if (endsAt !== null && startsAt !== null && endsAt <= startsAt) {
    faults.push({ path: 'endsAt', message: 'must be after startsAt' });
  }
  if (jitterSeconds === 0) return faults;
  const most = Math.floor(maxJitterSeconds(parseStoredSchedule(schedule)));
  if (jitterSeconds > most) {
    const message = `at most half the shortest interval of the schedule, ${most} seconds`;
    faults.push({ path: 'jitterSeconds', message });
  }
  return faults;
}
