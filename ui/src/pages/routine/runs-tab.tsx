import { Play } from 'lucide-react';
import { useList } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { money, shortCount } from '#ui/format/numbers.ts';
import { atOf, newsBadgeOf, starterOf, tookOf } from '#ui/format/run-words.ts';
import { CompareLink } from '#ui/parts/compare-link.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { OutcomeLine } from '#ui/parts/outcome-line.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Ticks } from '#ui/parts/ticks.tsx';
import { Time } from '#ui/parts/time.tsx';

const TICKS = 60;

type Run = Shape<'RunSummary'>;

/** Shows the runs of one routine: as ticks, and one by one. */
export default function RunsTab({ routineId }: { readonly routineId: string }) {
  const runs = useList(
    '/v1/routines/{routineId}/runs',
    { path: { routineId }, query: { limit: 50 } },
    { everyMs: 5_000 },
  );
  return (
    <>
      <Await of={runs} skeleton={<SkeletonRows />} errorTitle="The runs could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={Play} title="No runs yet">
              Run the routine once to see its result.
            </EmptyState>
          ) : (
            <>
              <div className="mb-4 overflow-hidden">
                <Ticks
                  length={Math.min(TICKS, Math.max(rows.length, 10))}
                  runs={rows.map((run) => ({ id: run.id, state: run.state, at: atOf(run) }))}
                />
              </div>
              <DataTable
                label="Runs"
                rows={rows}
                keyOf={({ id }) => id}
                actionsWidth="w-10"
                actions={compare}
                columns={COLUMNS}
              />
            </>
          )
        }
      </Await>
      <Pager list={runs} />
    </>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  {
    key: 'at',
    header: 'Began',
    width: 'w-44',
    cell: (run) => <Began run={run} />,
  },
  {
    key: 'state',
    header: 'State',
    width: 'w-36',
    bare: true,
    cell: (run) => <StateBadge state={newsBadgeOf(run)} />,
  },
  {
    key: 'said',
    header: 'What it said',
    bare: true,
    cell: (run) => <OutcomeLine run={run} />,
  },
  {
    key: 'by',
    header: 'Started by',
    width: 'w-24',
    from: 'md',
    cell: starterOf,
  },
  {
    key: 'took',
    header: 'Took',
    width: 'w-20',
    align: 'right',
    from: 'md',
    cell: tookOf,
  },
  {
    key: 'tokens',
    header: 'Tokens',
    width: 'w-20',
    align: 'right',
    from: 'lg',
    cell: ({ usage }) => shortCount(usage.totalTokens),
  },
  {
    key: 'cost',
    header: 'Cost',
    width: 'w-24',
    align: 'right',
    cell: ({ usage, stepCount }) => (stepCount === 0 ? '–' : money(usage.costUsd)),
  },
];

function Began({ run }: { run: Run }) {
  const projectId = useProjectId();
  return (
    <RowLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.id }}>
      <Time at={atOf(run)} />
    </RowLink>
  );
}

function compare(run: Run) {
  return <CompareLink run={run} />;
}
