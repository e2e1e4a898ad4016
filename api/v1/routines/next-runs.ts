import { LRUCache } from 'lru-cache';
import { minuteAtOrBefore, nextOccurrences, parseStoredSchedule } from '#lib/schedule/index.ts';
import { iso } from '../../http/schemas.ts';

const COUNT = 5;

// Occurrences are whole minutes, so these hold for the minute they were worked out in: for a page that asks every few
// seconds, and for the many routines that share few schedules.
const known = new LRUCache<string, readonly string[], Routine>({
  max: 2_000,
  memoMethod: (_key, _stale, { context: { schedule, timezone } }) =>
    nextOccurrences(parseStoredSchedule(schedule), timezone, new Date(), COUNT).map(iso),
});

interface Routine {
  readonly schedule: string;
  readonly timezone: string;
}

/** The next five times of a schedule. */
export function nextRunsOf(routine: Routine): readonly string[] {
  const minute = minuteAtOrBefore(new Date());
  return known.memo(`${minute} ${routine.timezone} ${routine.schedule}`, { context: routine });
}
