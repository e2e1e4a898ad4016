import type { Shape } from '#ui/api/types.ts';

type RunSummary = Shape<'RunSummary'>;

/** A row of the list: a run, or occurrences in a row that were passed over for the same reason. */
export interface Streak {
  /** The newest. */
  readonly run: RunSummary;
  /** The occurrences that it stands for; 1 for a run. */
  readonly count: number;
  /** The oldest and the newest of them, of more than one. */
  readonly from: string;
  readonly until: string;
}

/** Merges neighbours that were skipped for the same reason, so that a routine that is passed over all day is one row. */
export function mergeSkipped(runs: readonly RunSummary[]): readonly Streak[] {
  const streaks: Streak[] = [];
  for (const run of runs) {
    const last = streaks.at(-1);
    const own = streakOf(run);
    if (last !== undefined && isSame(last.run, run)) {
      streaks[streaks.length - 1] = { ...last, count: last.count + own.count, from: own.from };
    } else {
      streaks.push(own);
    }
  }
  return streaks;
}

function streakOf(run: RunSummary): Streak {
  const at = run.scheduledFor ?? run.createdAt;
  return {
    run,
    count: run.skipped?.count ?? 1,
    from: run.skipped?.from ?? at,
    until: run.skipped?.until ?? at,
  };
}

function isSame(a: RunSummary, b: RunSummary): boolean {
  return (
    a.state === 'skipped' &&
    b.state === 'skipped' &&
    a.routineId === b.routineId &&
    a.reason === b.reason
  );
}
