import { isDeepStrictEqual } from 'node:util';
import { jitterMs, nextInTimetable, nextTimes, parseStoredSchedule, type Timetable } from '#lib/schedule/index.ts';

/** The fields that say when a routine is due. Its `skipDates` are in ascending order. */
export interface TimingFields extends Omit<Timetable, 'schedule'> {
  readonly schedule: string;
  /** Longest delay after the scheduled time; the routine's id decides the actual delay. */
  readonly jitterSeconds: number;
}

const TIMING_FIELDS = [
  'schedule',
  'timezone',
  'startsAt',
  'endsAt',
  'skipDates',
  'jitterSeconds',
] as const satisfies readonly (keyof TimingFields)[];

export interface Timing extends TimingFields {
  readonly id: string;
}

/** Time at which the scheduler next examines an active routine; null while the routine has no schedule. */
interface Timed extends Timing {
  readonly nextRunAt: Date | null;
}

/** @throws {ScheduleError} when the stored schedule cannot be read */
export function timetableOf(timing: Timing): Timetable {
  const { timezone, startsAt, endsAt, skipDates } = timing;
  const schedule = parseStoredSchedule(timing.schedule);
  return { schedule, timezone, startsAt, endsAt, skipDates };
}

/** Returns the earliest start of a run for an occurrence: the scheduled time plus the routine's jitter. */
export function withJitter({ id, jitterSeconds }: Timing, occurrence: Date): Date {
  return new Date(occurrence.getTime() + jitterMs(id, jitterSeconds));
}

/** Returns the scheduled time of an occurrence, without the routine's jitter. */
export function withoutJitter({ id, jitterSeconds }: Timing, instant: Date): Date {
  return new Date(instant.getTime() - jitterMs(id, jitterSeconds));
}

/**
 * Returns the time of the next occurrence or, after the last occurrence, the time at which a claim pauses the routine.
 */
function nextTimeOf(timing: Timing, after: Date): Date {
  return timeFor(timing, nextInTimetable(timetableOf(timing), after));
}

/**
 * Returns when the scheduler next looks at an active routine: at the occurrence plus its jitter or, without an
 * occurrence, at the end of the window.
 */
export function timeFor(timing: Timing, occurrence: Date | undefined): Date {
  return occurrence === undefined ? overAt(timing) : withJitter(timing, occurrence);
}

/** Returns the next time by the clock. An occurrence whose jitter has not passed yet still counts. */
export function nextTimeFrom(timing: Timing, now: Date): Date {
  return nextTimeOf(timing, withoutJitter(timing, now));
}

/**
 * Returns the next times at which runs of an active routine would start: `count` times, or fewer if the window ends.
 */
export function nextStarts(timing: Timing, now: Date, count: number): Date[] {
  const times = nextTimes(timetableOf(timing), withoutJitter(timing, now), count);
  return times.map((time) => withJitter(timing, time));
}

/** Tells whether a next time is the end of the window instead of an occurrence. */
export function isOver(timing: Timing, nextRunAt: Date): boolean {
  return timing.endsAt !== null && nextRunAt >= overAt(timing);
}

/** Returns a routine's next time for users: null when the window has no more occurrences. */
export function shownNextRun(timing: Timed): Date | null {
  const { nextRunAt } = timing;
  return nextRunAt === null || isOver(timing, nextRunAt) ? null : nextRunAt;
}

function overAt({ endsAt, jitterSeconds }: Timing): Date {
  if (endsAt === null) throw new RangeError('a schedule without an end has a next time');
  return new Date(endsAt.getTime() + jitterSeconds * 1_000 + 1);
}

/**
 * Returns the next time of a routine that is saved. A new schedule keeps an occurrence that is due or still waits for
 * its jitter.
 */
export function nextTimeAfterSave(
  before: Timed & { readonly state: string },
  fields: TimingFields,
  now: Date,
): Date | null {
  const { id, nextRunAt } = before;
  if (before.state !== 'active' || nextRunAt === null) return null;
  if (!TIMING_FIELDS.some((field) => !isDeepStrictEqual(before[field], fields[field]))) {
    return nextRunAt;
  }
  const after = { ...fields, id };
  const isDue = nextRunAt <= now && !isOver(before, nextRunAt);
  if (isDue) return withJitter(after, withoutJitter(before, nextRunAt));
  return nextTimeOf(after, withoutJitter(before, now));
}
