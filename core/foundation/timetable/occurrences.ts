import type { Db } from '#lib/database/index.ts';
import { nextInTimetable, type Timetable } from '#lib/schedule/index.ts';
import { timetableOf, withJitter, withoutJitter, type Timing } from './timetable.ts';

/** A future time of an active routine. */
export interface Occurrence {
  readonly routineId: string;
  readonly routineName: string;
  /** Scheduled time, without jitter. */
  readonly scheduledFor: Date;
  /** Earliest start of its run: the scheduled time plus the routine's jitter. */
  readonly startsAt: Date;
}

/**
 * Returns the occurrences of the active routines of a project whose runs would start after `from`, up to and including
 * `to`, in order of their start: at most `limit`, and whether there are more. A routine whose schedule cannot be
 * computed is left out.
 */
export async function listOccurrences(
  db: Db,
  projectId: string,
  { from, to, limit }: { readonly from: Date; readonly to: Date; readonly limit: number },
): Promise<{ occurrences: Occurrence[]; truncated: boolean }> {
  const routines = await db.rows<Timing & { name: string }>`
    select id, name, schedule, timezone, starts_at as "startsAt", ends_at as "endsAt", skip_dates as "skipDates",
      jitter_seconds as "jitterSeconds"
    from routines where project_id = ${projectId} and state = 'active' order by id
  `;
  const pending = routines.flatMap((routine) => firstOf(routine, from, to));
  const occurrences: Occurrence[] = [];
  while (pending.length > 0 && occurrences.length <= limit) {
    // Compute only the returned times. A project has few active routines, so each round compares all of them.
    const earliest = pending.reduce((a, b) => (b.startsAt < a.startsAt ? b : a));
    const { routine, timetable, scheduledFor, startsAt } = earliest;
    occurrences.push({ routineId: routine.id, routineName: routine.name, scheduledFor, startsAt });
    const next = nextInTimetable(timetable, scheduledFor);
    pending.splice(pending.indexOf(earliest), 1, ...upTo(to, { routine, timetable, scheduledFor: next }));
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

function upTo(
  to: Date,
  next: Pick<Pending, 'routine' | 'timetable'> & { readonly scheduledFor: Date | undefined },
): Pending[] {
  const { routine, timetable, scheduledFor } = next;
  if (scheduledFor === undefined) return [];
  const startsAt = withJitter(routine, scheduledFor);
  return startsAt > to ? [] : [{ routine, timetable, scheduledFor, startsAt }];
}
