import type { Routine } from '#core/authoring/routines/index.ts';
import { reasonAsMessage, type RunReason } from '#core/execution/run-states/index.ts';
import type { occurrences } from '#core/execution/runs/index.ts';
import { newId } from '#lib/ids.ts';
import { nextInTimetable, timesBetween, type Timetable } from '#lib/schedule/index.ts';

export type OccurrenceRow = Parameters<typeof occurrences.insertOccurrences>[1][number];

export interface DueSchedule {
  readonly timetable: Timetable;
  readonly misfire: Routine['misfire'];
  /** Instant of the timetable at which the routine was due, not after `now`. */
  readonly dueAt: Date;
  /** Latest recorded occurrence; it and earlier ones are not recorded again. */
  readonly accountedUntil: Date | null;
  /** The time without the routine's jitter. */
  readonly now: Date;
}

interface PassedOver {
  readonly count: number;
  readonly from: Date;
  readonly until: Date;
}

export interface Decision {
  /** The occurrence that gets a run. */
  readonly run: Date | undefined;
  /** The occurrences that were missed and get no run. */
  readonly missed: PassedOver | undefined;
  /** The first unrecorded occurrence after `now`; undefined when the window has no more. */
  readonly next: Date | undefined;
}

/** The most delay with which an occurrence still runs under `misfire: skip`; ticks alone delay it by up to a minute. */
const MISFIRE_GRACE_MS = 5 * 60_000;

/** The most occurrences that are counted: about two years of a routine that is due every minute. */
const MAX_COUNTED = 1_000_000;

/**
 * Decides about every occurrence since the due one: only the latest one runs, and the earlier ones were missed. Under
 * `misfire: skip` the latest one runs only if it is not late itself.
 */
export function decide(due: DueSchedule): Decision {
  const { timetable, now } = due;
  const first = firstUnaccounted(due);
  // A clock that was set back, or a schedule that was saved, may make an occurrence due that is recorded already.
  if (first === undefined || first > now) return { run: undefined, missed: undefined, next: first };
  const later = timesBetween(timetable, first, now, MAX_COUNTED);
  const latest = later.last ?? first;
  const next = nextInTimetable(timetable, now);
  const late = now.getTime() - latest.getTime() > MISFIRE_GRACE_MS;
  if (due.misfire === 'skip' && late) {
    return { run: undefined, missed: { count: later.count + 1, from: first, until: latest }, next };
  }
  if (later.count === 0) return { run: latest, missed: undefined, next };
  // Only the last of these is needed. With a cap of one they are not counted again.
  const before = timesBetween(timetable, first, new Date(latest.getTime() - 1), 1);
  return { run: latest, missed: { count: later.count, from: first, until: before.last ?? first }, next };
}

function firstUnaccounted({ timetable, dueAt, accountedUntil }: DueSchedule): Date | undefined {
  if (accountedUntil === null || accountedUntil < dueAt) return dueAt;
  return nextInTimetable(timetable, accountedUntil);
}

/** The decision about the occurrence that would run. */
export interface Judgement {
  /** Why it is skipped; undefined when it runs. */
  readonly reason?: RunReason | undefined;
  readonly detail?: string | undefined;
  readonly afterPrevious?: boolean;
}

export function occurrenceRows(
  routineId: string,
  { run, missed }: Pick<Decision, 'run' | 'missed'>,
  { reason, detail, afterPrevious = false }: Judgement,
): OccurrenceRow[] {
  const row = (scheduledFor: Date) => ({ id: newId('run'), routine_id: routineId, scheduled_for: scheduledFor });
  const skipped = ({ count, from, until }: PassedOver, why: RunReason, message: string | undefined): OccurrenceRow => ({
    ...row(from),
    state: 'skipped',
    reason: why,
    error_message: message ?? reasonAsMessage(why),
    skipped_count: count,
    skipped_until: until,
    after_previous: false,
  });
  const found = missed === undefined ? [] : [skipped(missed, 'misfire', undefined)];
  if (run === undefined) return found;
  if (reason !== undefined) return [...found, skipped({ count: 1, from: run, until: run }, reason, detail)];
  const queued: OccurrenceRow = {
    ...row(run),
    state: 'queued',
    reason: null,
    error_message: null,
    skipped_count: null,
    skipped_until: null,
    after_previous: afterPrevious,
  };
  return [...found, queued];
}
