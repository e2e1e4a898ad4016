import { isDeepStrictEqual } from 'node:util';
import { execute, sql, type Db, rows } from '#lib/database/index.ts';
import {
  jitterMs,
  nextInTimetable,
  nextTimes,
  parseStoredSchedule,
  type Timetable,
} from '#lib/schedule/index.ts';
import type { Routine, RoutineFields } from './routine.ts';

/** The fields that say when a routine is due. */
export const TIMING_FIELDS = [
  'schedule',
  'timezone',
  'startsAt',
  'endsAt',
  'skipDates',
  'jitterSeconds',
] as const satisfies readonly (keyof RoutineFields)[];

export type Timing = Pick<RoutineFields, (typeof TIMING_FIELDS)[number]> & { readonly id: string };

/** @throws {ScheduleError} when the stored schedule cannot be read */
export function timetableOf(timing: Timing): Timetable {
  const { timezone, startsAt, endsAt, skipDates } = timing;
  const schedule = parseStoredSchedule(timing.schedule);
  return { schedule, timezone, startsAt, endsAt, skipDates };
}

/** Returns the instant at which a run for an occurrence may start: later by the routine's jitter. */
function withJitter({ id, jitterSeconds }: Timing, occurrence: Date): Date {
  return new Date(occurrence.getTime() + jitterMs(id, jitterSeconds));
}

/** Returns the instant of the schedule that an instant with the routine's jitter belongs to. */
export function withoutJitter({ id, jitterSeconds }: Timing, instant: Date): Date {
  return new Date(instant.getTime() - jitterMs(id, jitterSeconds));
}

/**
 * Returns the time at which an active routine is looked at next: its next occurrence after `after`, an instant of the
 * schedule, later by its jitter. Where its window holds no more, that is just after the end of the window, when a claim
 * pauses it.
 */
function nextTimeOf(timing: Timing, after: Date): Date {
  return timeFor(timing, nextInTimetable(timetableOf(timing), after));
}

/** Returns the time at which an active routine is looked at for an occurrence, undefined for none. */
export function timeFor(timing: Timing, occurrence: Date | undefined): Date {
  return occurrence === undefined ? overAt(timing) : withJitter(timing, occurrence);
}

/** Returns the next time by the clock: an occurrence whose jitter has not passed yet is still to come. */
export function nextTimeFrom(timing: Timing, now: Date): Date {
  return nextTimeOf(timing, withoutJitter(timing, now));
}

/** Returns the next times at which runs of a routine would start, were it active: `count`, or fewer up to its end. */
export function nextStarts(timing: Timing, now: Date, count: number): Date[] {
  const times = nextTimes(timetableOf(timing), withoutJitter(timing, now), count);
  return times.map((time) => withJitter(timing, time));
}

/** Tells whether a next time is no occurrence but the end of the window. */
export function isOver(timing: Timing, nextRunAt: Date): boolean {
  return timing.endsAt !== null && nextRunAt >= overAt(timing);
}

/** Returns a routine's next time as users see it: null where the window holds no more occurrences. */
export function shownNextRun(timing: Timing & Pick<Routine, 'nextRunAt'>): Date | null {
  const { nextRunAt } = timing;
  return nextRunAt === null || isOver(timing, nextRunAt) ? null : nextRunAt;
}

/** Returns an instant that is later than every occurrence with its jitter. */
function overAt({ endsAt, jitterSeconds }: Timing): Date {
  if (endsAt === null) throw new RangeError('a schedule without an end has a next time');
  return new Date(endsAt.getTime() + jitterSeconds * 1_000 + 1);
}

/**
 * Returns the next time of a routine that is saved. An occurrence that is due stays due, and one whose jitter has not
 * passed yet stays to come: new times do not undo it.
 */
export function nextTimeAfterSave(before: Routine, fields: RoutineFields, now: Date): Date | null {
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

/** Writes the next times of routines whose rows the transaction holds. */
export async function setNextTimes(
  tx: Db,
  next: readonly { readonly id: string; readonly next: Date }[],
): Promise<number> {
  return execute(
    tx,
    sql`
      update routines r set next_run_at = n.next
      from jsonb_to_recordset(${JSON.stringify(next)}::jsonb) as n(id text, next timestamptz)
      where r.id = n.id
    `,
  );
}

/** A time to come of an active routine. */
export interface Occurrence {
  readonly routineId: string;
  readonly routineName: string;
  /** The instant of the schedule. */
  readonly scheduledFor: Date;
  /** Earliest start of its run: the routine's jitter later. */
  readonly startsAt: Date;
}

/**
 * Returns the occurrences of the active routines of a project whose runs would start after `from`, up to and including
 * `to`, in order of their start; at most `limit`, and whether there are more. A routine whose schedule cannot be
 * computed has none.
 */
export async function listOccurrences(
  db: Db,
  projectId: string,
  { from, to, limit }: { readonly from: Date; readonly to: Date; readonly limit: number },
): Promise<{ occurrences: Occurrence[]; truncated: boolean }> {
  const routines = await rows<Timing & { name: string }>(
    db,
    sql`
      select id, name, schedule, timezone, starts_at as "startsAt", ends_at as "endsAt", skip_dates as "skipDates",
        jitter_seconds as "jitterSeconds"
      from routines where project_id = ${projectId} and state = 'active' order by id
    `,
  );
  const pending = routines.flatMap((routine) => firstOf(routine, from, to));
  const occurrences: Occurrence[] = [];
  while (pending.length > 0 && occurrences.length <= limit) {
    // A project has few enough active routines to look at each, and only as many times as are returned are computed.
    const earliest = pending.reduce((a, b) => (b.startsAt < a.startsAt ? b : a));
    const { routine, timetable, scheduledFor, startsAt } = earliest;
    occurrences.push({ routineId: routine.id, routineName: routine.name, scheduledFor, startsAt });
    const next = nextInTimetable(timetable, scheduledFor);
    pending.splice(
      pending.indexOf(earliest),
      1,
      ...upTo(to, { routine, timetable, scheduledFor: next }),
    );
  }
  const truncated = occurrences.length > limit;
  return { occurrences: occurrences.slice(0, limit), truncated };
}

interface Pending {
  readonly routine: Timing & { readonly name: string };
  readonly timetable: Timetable;
  readonly scheduledFor: Date;
  readonly startsAt: Date;
}

function firstOf(routine: Pending['routine'], from: Date, to: Date): Pending[] {
  try {
    const timetable = timetableOf(routine);
    const scheduledFor = nextInTimetable(timetable, withoutJitter(routine, from));
    return upTo(to, { routine, timetable, scheduledFor });
  } catch {
    return [];
  }
}

/** Returns the occurrence unless there is none, or it starts after `to`. */
function upTo(
  to: Date,
  {
    routine,
    timetable,
    scheduledFor,
  }: Pick<Pending, 'routine' | 'timetable'> & { readonly scheduledFor: Date | undefined },
): Pending[] {
  if (scheduledFor === undefined) return [];
  const startsAt = withJitter(routine, scheduledFor);
  return startsAt > to ? [] : [{ routine, timetable, scheduledFor, startsAt }];
}
