import { minuteAtOrBefore, nextOccurrences, parseStoredSchedule } from '#core/scheduling/index.ts';
import { BoundedCache } from '#lib/bounded-cache.ts';
import { iso } from '../../http/schemas.ts';

const COUNT = 5;

// Occurrences are whole minutes, so these hold for the minute they were worked out in: for a page that asks every few
// seconds, and for the many routines that share few schedules.
const known = new BoundedCache<string, readonly string[]>(2_000);

/** The next five times of a schedule. */
export function nextRunsOf(routine: { schedule: string; timezone: string }): readonly string[] {
  const now = new Date();
  return known.get(`${minuteAtOrBefore(now)} ${routine.timezone} ${routine.schedule}`, () =>
    nextOccurrences(parseStoredSchedule(routine.schedule), routine.timezone, now, COUNT).map(iso),
  );
}
