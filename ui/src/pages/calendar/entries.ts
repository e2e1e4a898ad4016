import type { Shape } from '#ui/api/types.ts';
import { newsBadgeOf, reasonOf } from '#ui/format/run-words.ts';
import { addDays } from '#ui/format/days.ts';

type RunSummary = Shape<'RunSummary'>;
type Occurrence = Shape<'ScheduledOccurrence'>;

/** A past or running run, or a future time of the schedule. */
export interface Moment {
  readonly key: string;
  readonly at: number;
  /** A state of runs, or `due`. */
  readonly state: string;
  readonly runId: string | null;
  /** Reason of a skipped occurrence; null for all other moments. */
  readonly reason: string | null;
  /** The words of a run that brought news or failed; null for all other moments. */
  readonly said: string | null;
  /** The number of occurrences in this entry. */
  readonly count: number;
}

/** The moments of one routine on one day. */
export interface Entry {
  readonly routineId: string;
  readonly routineName: string;
  readonly moments: readonly Moment[];
}

export interface Day {
  readonly start: Date;
  readonly entries: readonly Entry[];
}

/** Sorts past and coming occurrences into days, `count` days from the first one. */
export function daysOf(
  start: Date,
  count: number,
  { runs, occurrences }: { readonly runs: readonly RunSummary[]; readonly occurrences: readonly Occurrence[] },
): readonly Day[] {
  const moments = [...runs.map(momentOfRun), ...occurrences.map(momentOfOccurrence)];
  return Array.from({ length: count }, (_, index) => {
    const from = addDays(start, index);
    const to = addDays(start, index + 1).getTime();
    const own = moments.filter(({ at }) => at >= from.getTime() && at < to);
    return { start: from, entries: entriesOf(own) };
  });
}

/** States without news. A skipped occurrence shows its reason instead. */
const QUIET: ReadonlySet<string> = new Set(['nothing_to_report', 'nothing_new', 'skipped']);

type OwnedMoment = Moment & Pick<Entry, 'routineId' | 'routineName'>;

function entriesOf(moments: readonly OwnedMoment[]): readonly Entry[] {
  const inOrder = moments.toSorted((a, b) => a.at - b.at);
  return [...Map.groupBy(inOrder, ({ routineId }) => routineId).values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    return [{ routineId: first.routineId, routineName: first.routineName, moments: own }];
  });
}

function momentOfRun(run: RunSummary): OwnedMoment {
  const state = newsBadgeOf(run);
  return {
    key: run.id,
    at: Date.parse(run.scheduledFor ?? run.runAt ?? run.startedAt ?? run.createdAt),
    state,
    runId: run.id,
    reason: run.state === 'skipped' ? reasonOf(run) : null,
    said: QUIET.has(state) ? null : (run.outcomeSummary ?? run.errorMessage),
    count: run.skipped?.count ?? 1,
    routineId: run.routineId,
    routineName: run.routineName,
  };
}

function momentOfOccurrence(occurrence: Occurrence): OwnedMoment {
  const { routineId, routineName, startsAt } = occurrence;
  return {
    key: `${routineId} ${startsAt}`,
    at: Date.parse(startsAt),
    state: 'due',
    runId: null,
    reason: null,
    said: null,
    count: 1,
    routineId,
    routineName,
  };
}
