import { LRUCache } from 'lru-cache';
import { jitterMs, minuteAtOrBefore, parseStoredSchedule, timesBetween } from '#lib/schedule/index.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MINUTES_OF_DAY = 1_440;

export const FORECAST_DAYS = 30;

/** A calendar day (UTC) of a forecast. */
export interface ForecastDay {
  /** Date of the day, `YYYY-MM-DD`. */
  readonly day: string;
  /** The part of the day that the forecast covers, from 0 to 1. */
  readonly share: number;
  readonly runs: number;
}

/** Planned runs of a future period, counted by the day on which they start. */
export interface PlannedRuns {
  readonly from: Date;
  readonly until: Date;
  readonly count: number;
  /** First and last instant of the schedule with a planned run; null without a run. */
  readonly first: Date | null;
  readonly last: Date | null;
  /** Every calendar day (UTC) of the period, in order. */
  readonly days: readonly ForecastDay[];
}

interface Scheduled {
  readonly id: string;
  readonly schedule: string;
  readonly timezone: string;
  /** Jitter of the schedule, which moves a run near midnight to the next day and its limits. */
  readonly jitterSeconds?: number;
  /** The window and the skipped dates, if the routine has any. */
  readonly startsAt?: Date | null;
  readonly endsAt?: Date | null;
  readonly skipDates?: readonly string[];
}

/** Plans the runs of a routine for the next 30 days; an archived routine has none. */
export function plannedRuns(routine: Scheduled & { readonly state: string }, now: Date): PlannedRuns {
  const lateMs = jitterMs(routine.id, routine.jitterSeconds ?? 0);
  // Occurrences are whole minutes, moved by the jitter. All calls between two such moments share a plan.
  const minute = minuteAtOrBefore(later(now, -lateMs));
  // Past usage belongs to today, so a minute that began yesterday is planned from midnight on.
  const from = new Date(Math.max(minute * MINUTE_MS + lateMs, midnightBefore(now).getTime()));
  if (routine.state === 'archived') return planOf(from, () => NONE);
  const { schedule, timezone, startsAt, endsAt, skipDates = [] } = routine;
  const window = [startsAt?.getTime(), endsAt?.getTime(), skipDates.join()].join(' ');
  const key = `${from.getTime()} ${lateMs} ${timezone} ${schedule} ${window}`;
  return known.memo(key, { context: { routine, from, lateMs } });
}

// Remember plans: a routine that is due each minute has 43,200 occurrences, which take 20 ms to count.
const known = new LRUCache<string, PlannedRuns, { routine: Scheduled; from: Date; lateMs: number }>({
  max: 1_000,
  memoMethod: (_key, _stale, { context: { routine, from, lateMs } }) => {
    const { timezone, startsAt = null, endsAt = null, skipDates = [] } = routine;
    const schedule = parseStoredSchedule(routine.schedule);
    const timetable = { schedule, timezone, startsAt, endsAt, skipDates };
    return planOf(from, (after, until) =>
      timesBetween(timetable, later(after, -lateMs), later(until, -lateMs), MINUTES_OF_DAY),
    );
  },
});

interface Counted {
  readonly count: number;
  readonly first: Date | undefined;
  readonly last: Date | undefined;
}

const NONE: Counted = { count: 0, first: undefined, last: undefined };

/** Makes a plan day by day; `count` counts the runs that start after one instant, up to and including another. */
function planOf(from: Date, count: (after: Date, until: Date) => Counted): PlannedRuns {
  const until = new Date(from.getTime() + FORECAST_DAYS * DAY_MS);
  const days: ForecastDay[] = [];
  let first: Date | null = null;
  let last: Date | null = null;
  for (let start = from; start <= until;) {
    const midnight = later(midnightBefore(start), DAY_MS);
    const end = midnight < until ? midnight : until;
    // A run at midnight belongs to the day that begins; a run at `from` itself is past.
    const after = start === from ? from : justBefore(start);
    const runs = count(after, midnight <= until ? justBefore(midnight) : until);
    first ??= runs.first ?? null;
    last = runs.last ?? last;
    const day = start.toISOString().slice(0, 10);
    days.push({ day, share: (end.getTime() - start.getTime()) / DAY_MS, runs: runs.count });
    start = midnight;
  }
  const total = days.reduce((sum, { runs }) => sum + runs, 0);
  return { from, until, count: total, first, last, days };
}

/** Plans runs for past instants, ascending, as if all of them ran today. */
export function plannedToday(instants: readonly Date[], now: Date): PlannedRuns {
  const count = instants.length;
  const [first, last] = [instants[0] ?? null, instants.at(-1) ?? null];
  const midnight = later(midnightBefore(now), DAY_MS);
  const share = (midnight.getTime() - now.getTime()) / DAY_MS;
  const days = [{ day: now.toISOString().slice(0, 10), share, runs: count }];
  return { from: now, until: now, count, first, last, days };
}

function midnightBefore(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

function justBefore(instant: Date): Date {
  return later(instant, -1);
}

function later(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
