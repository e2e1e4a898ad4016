import { nextOccurrence, occurrencesBetween, type ParsedSchedule } from './schedule/index.ts';

export interface DueSchedule {
  readonly schedule: ParsedSchedule;
  readonly timezone: string;
  readonly misfire: 'run_once' | 'skip';
  /** The instant that was planned, at or before `now`. */
  readonly dueAt: Date;
  /** The latest occurrence on record: it and what comes before it are not accounted for again. */
  readonly accountedUntil: Date | null;
  readonly now: Date;
}

export interface PassedOver {
  readonly count: number;
  readonly from: Date;
  readonly until: Date;
}

export interface Decision {
  /** The occurrence that runs. */
  readonly run: Date | undefined;
  /** The occurrences that were missed and are not made up. */
  readonly missed: PassedOver | undefined;
  /** The first occurrence after `now` that is not on record. */
  readonly next: Date;
}

/**
 * How late an occurrence may be claimed under `misfire: skip` and still run. A tick comes each minute, so anything
 * up to here is an ordinary delay and not an outage.
 */
export const MISFIRE_GRACE_MS = 5 * 60_000;

/** Two years of a routine that is due each minute; a longer outage counts as this many. */
const MAX_COUNTED = 1_000_000;

/**
 * Accounts for every occurrence from the planned one up to now: the latest runs, the ones before it were missed.
 * Under `misfire: skip` the latest runs only when it is not late itself.
 */
export function decide(due: DueSchedule): Decision {
  const { schedule, timezone, now } = due;
  const first = firstUnaccounted(due);
  // A clock that was set back, or a schedule saved meanwhile, can plan what is on record already.
  if (first > now) return { run: undefined, missed: undefined, next: first };
  const later = occurrencesBetween(schedule, timezone, first, now, MAX_COUNTED);
  const latest = later.last ?? first;
  const next = nextOccurrence(schedule, timezone, now);
  const late = now.getTime() - latest.getTime() > MISFIRE_GRACE_MS;
  if (due.misfire === 'skip' && late) {
    return { run: undefined, missed: { count: later.count + 1, from: first, until: latest }, next };
  }
  if (later.count === 0) return { run: latest, missed: undefined, next };
  // Only the last of these is wanted, which a cap of one gives without counting them again.
  const before = occurrencesBetween(schedule, timezone, first, new Date(latest.getTime() - 1), 1);
  return {
    run: latest,
    missed: { count: later.count, from: first, until: before.last ?? first },
    next,
  };
}

function firstUnaccounted({ schedule, timezone, dueAt, accountedUntil }: DueSchedule): Date {
  if (accountedUntil === null || accountedUntil < dueAt) return dueAt;
  return nextOccurrence(schedule, timezone, accountedUntil);
}
