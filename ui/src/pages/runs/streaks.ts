import type { Shape } from '#ui/api/types.ts';

type RunSummary = Shape<'RunSummary'>;

/** A row of the list: a run, or consecutive occurrences that were skipped for the same reason. */
export interface Streak {
  /** The newest run of the row. */
  readonly run: RunSummary;
  /** Number of occurrences; 1 for a run. */
  readonly count: number;
  /** Times of the oldest and the newest, where there are several. */
  readonly from: string;
  readonly until: string;
}

/** Merges neighbours that were skipped for the same reason, so that a routine that is skipped all day is one row. */
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
