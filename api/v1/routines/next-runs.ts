import { LRUCache } from 'lru-cache';
import { nextStarts, type Timing } from '#core/routines/index.ts';
import { minuteAtOrBefore } from '#lib/schedule/index.ts';
import { iso } from '../../http/schemas.ts';

const COUNT = 5;

// Without jitter these are whole minutes and hold for the minute they were worked out in: for a page that asks every
// few seconds, and for the many routines that share few schedules.
const known = new LRUCache<string, readonly string[], Timing>({
  max: 2_000,
  memoMethod: (_key, _stale, { context: timing }) => nextStarts(timing, new Date(), COUNT).map(iso),
});

/** Returns the next five times at which scheduled runs of a routine would start. */
export function nextRunsOf(routine: Timing): readonly string[] {
  const { schedule, timezone, startsAt, endsAt, skipDates, jitterSeconds } = routine;
  const now = new Date();
  // Only the jitter differs from routine to routine, and brings in seconds.
  const [id, time] =
    jitterSeconds === 0 ? ['', minuteAtOrBefore(now)] : [routine.id, iso(now).slice(0, 19)];
  const key = [
    time,
    timezone,
    schedule,
    startsAt?.getTime(),
    endsAt?.getTime(),
    skipDates.join(),
    jitterSeconds,
    id,
  ];
  return known.memo(key.join(' '), { context: routine });
}
