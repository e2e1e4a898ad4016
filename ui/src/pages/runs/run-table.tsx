import type { Shape } from '#ui/api/types.ts';
import { count, money } from '#ui/format/numbers.ts';
import { badgeOf, reasonOf, starterOf } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { CompareLink } from '#ui/parts/compare-link.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type RunSummary = Shape<'RunSummary'>;

export interface RunTableProps {
  readonly runs: readonly RunSummary[];
  readonly projectId: string;
}

export function RunTable({ runs, projectId }: RunTableProps) {
  return (
    <DataTable
      label="Runs"
      columns={columnsFor(projectId)}
      rows={mergeSkipped(runs)}
      keyOf={({ run }) => run.id}
      actionsWidth="w-10"
      actions={({ run }) => <CompareLink projectId={projectId} run={run} />}
    />
  );
}

function columnsFor(projectId: string): readonly Column<Streak>[] {
  return [
    {
      key: 'routine',
      header: 'Routine',
      cell: ({ run }) => (
        <div className="flex min-w-0 flex-col max-sm:gap-0.5">
          <RowLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.id }} className="sm:truncate">
            {run.routineName}
          </RowLink>
          <span className="min-w-0 text-xs text-muted max-sm:line-clamp-2 max-sm:wrap-anywhere sm:truncate">
            {lineOf(run)}
          </span>
        </div>
      ),
    },
    {
      key: 'state',
      header: 'State',
      width: 'w-36',
      bare: true,
      cell: ({ run, count: occurrences }) => (
        <span className="flex items-center gap-1.5">
          <StateBadge state={badgeOf(run)} />
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
          <Time at={run.startedAt ?? run.scheduledFor ?? run.createdAt} />
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
}

/** Describes a run in a line: why it ended, what the model said of it, or how its result begins. */
function lineOf(run: RunSummary): string {
  const text = run.outcomeSummary ?? reasonOf(run) ?? run.resultPreview ?? '';
  const [line = ''] = text
    .trim()
    .replace(/^#+\s*/, '')
    .split('\n', 1);
  return line;
}

function tookOf({ startedAt, finishedAt }: RunSummary): string {
  if (startedAt === null || finishedAt === null) return '';
  return duration(Date.parse(finishedAt) - Date.parse(startedAt));
}

/** A row of the list: a run, or consecutive occurrences that were skipped for the same reason. */
interface Streak {
  /** The newest run of the row. */
  readonly run: RunSummary;
  /** Number of occurrences; 1 for a run. */
  readonly count: number;
  /** Times of the oldest and the newest, where there are several. */
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
