import { useMemo } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, money } from '#ui/format/numbers.ts';
import { atOf, lineOf, newsBadgeOf, starterOf, tookOf } from '#ui/format/run-words.ts';
import { CompareLink } from '#ui/parts/compare-link.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type RunSummary = Shape<'RunSummary'>;

export function RunTable({ runs }: { readonly runs: readonly RunSummary[] }) {
  // Returns the same row while its run is the same, so that only changed rows are drawn.
  const rows = useMemo(() => mergeSkipped(runs), [runs]);
  return (
    <DataTable
      label="Runs"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ run }) => run.id}
      actionsWidth="w-10"
      actions={compare}
    />
  );
}

function compare({ run }: Streak) {
  return <CompareLink run={run} />;
}

function Routine({ run }: { run: RunSummary }) {
  const projectId = useProjectId();
  return (
    <div className="flex min-w-0 flex-col max-sm:gap-0.5">
      <RowLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.id }} className="sm:truncate">
        {run.routineName}
      </RowLink>
      <span className="min-w-0 text-xs text-muted max-sm:line-clamp-2 max-sm:wrap-anywhere sm:truncate">
        {lineOf(run)}
      </span>
    </div>
  );
}

const COLUMNS: readonly Column<Streak>[] = [
  { key: 'routine', header: 'Routine', cell: ({ run }) => <Routine run={run} /> },
  {
    key: 'state',
    header: 'State',
    width: 'w-36',
    bare: true,
    cell: ({ run, count: occurrences }) => (
      <span className="flex items-center gap-1.5">
        <StateBadge state={newsBadgeOf(run)} />
        {occurrences > 1 && (
          <span className="text-xs tabular" title={`${count(occurrences)} occurrences`}>
            ×{count(occurrences)}
          </span>
        )}
      </span>
    ),
  },
  {
    key: 'when',
    header: 'When',
    width: 'w-40',
    bare: true,
    cell: ({ run, count: occurrences, from, until }) =>
      occurrences > 1 ? (
        <span className="flex flex-wrap gap-x-1 text-xs leading-4">
          <Time at={from} /> to <Time at={until} />
        </span>
      ) : run.trigger === 'backfill' ? (
        <span>
          for <Time at={run.scheduledFor} />
        </span>
      ) : (
        <Time at={atOf(run)} />
      ),
  },
  {
    key: 'trigger',
    header: 'Started by',
    width: 'w-24',
    from: 'lg',
    cell: ({ run }) => starterOf(run),
  },
  {
    key: 'took',
    header: 'Took',
    width: 'w-20',
    align: 'right',
    from: 'md',
    cell: ({ run }) => tookOf(run),
  },
  {
    key: 'cost',
    header: 'Cost',
    width: 'w-24',
    align: 'right',
    from: 'md',
    cell: ({ run }) => (run.stepCount === 0 ? '' : money(run.usage.costUsd)),
  },
];

/** A row of the list: a run, or consecutive occurrences that were skipped for the same reason. */
interface Streak {
  /** The newest run of the row. */
  readonly run: RunSummary;
  /** Number of occurrences; 1 for a run. */
  readonly count: number;
  /** Times of the oldest and of the newest occurrence, `from` and `until`. */
  readonly from: string;
  readonly until: string;
}

/** Merges neighbours that were skipped for the same reason, so that a routine that is skipped all day is one row. */
function mergeSkipped(runs: readonly RunSummary[]): readonly Streak[] {
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
  return a.state === 'skipped' && b.state === 'skipped' && a.routineId === b.routineId && a.reason === b.reason;
}
