import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { exactMoney, money } from '#ui/format/numbers.ts';
import { stateReasonInWords } from '#ui/format/routine-words.ts';
import { IconButton } from '#ui/parts/button.tsx';
import { ManagedMark } from '#ui/parts/managed.tsx';
import { OutcomeLine } from '#ui/parts/outcome-line.tsx';
import { Schedule } from '#ui/parts/schedule.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Ticks } from '#ui/parts/ticks.tsx';
import { Time } from '#ui/parts/time.tsx';
import type { Row } from './recent.ts';

type Routine = Shape<'RoutineSummary'>;

export function RoutineTable({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <DataTable
      label="Routines"
      rows={rows}
      keyOf={({ routine }) => routine.id}
      isDim={({ routine }) => routine.state === 'archived'}
      columns={COLUMNS}
      actionsWidth="w-12"
      actions={runNow}
    />
  );
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'name', header: 'Name', cell: ({ routine }) => <Name routine={routine} /> },
  {
    key: 'state',
    header: 'State',
    width: 'w-24',
    bare: true,
    cell: ({ routine: { state } }) => <StateBadge state={state} />,
  },
  {
    key: 'next',
    header: 'Next run',
    width: 'w-36',
    cell: ({ routine }) => <NextRun routine={routine} />,
  },
  {
    key: 'runs',
    header: 'Last runs',
    width: 'w-72',
    cell: ({ recent }) => <LastRuns recent={recent} />,
  },
  {
    key: 'spend',
    header: 'Cost, 30 days',
    width: 'w-28',
    align: 'right',
    cell: ({ spend }) => <Spend spend={spend} />,
  },
];

function runNow({ routine }: Row) {
  return <RunNow routine={routine} />;
}

function Name({ routine }: { routine: Routine }) {
  const projectId = useProjectId();
  return (
    <div className="min-w-0">
      <span className="flex min-w-0 items-center gap-2">
        <RowLink
          to="/p/$projectId/routines/$routineId"
          params={{ projectId, routineId: routine.id }}
          className="block truncate max-sm:whitespace-normal"
        >
          {routine.name}
        </RowLink>
        <ManagedMark of={routine} />
      </span>
      <span className="line-clamp-2 text-xs text-muted">
        <Schedule words={routine.scheduleInWords} cron={routine.schedule} zone={routine.timezone} /> ·{' '}
        <span title={routine.model.modelId}>{shortModel(routine.model.modelId)}</span>
      </span>
    </div>
  );
}

function NextRun({ routine: { state, nextRunAt, stateReason } }: { routine: Routine }) {
  if (nextRunAt === null) {
    if (stateReason === null) return <span className="text-faint">{NOT_DUE[state]}</span>;
    const why = stateReasonInWords(stateReason);
    return (
      <span className="line-clamp-2 text-xs whitespace-normal text-muted" title={why}>
        {why}
      </span>
    );
  }
  return (
    <span className="flex flex-col max-sm:flex-row max-sm:items-baseline max-sm:gap-2">
      <Time at={nextRunAt} className="truncate text-ink" />
      <Time at={nextRunAt} as="countdown" className="text-xs text-muted" />
    </span>
  );
}

const NOT_DUE: Readonly<Record<Routine['state'], string>> = {
  draft: 'Not active yet',
  active: 'None left',
  paused: 'Paused',
  archived: 'Archived',
};

function LastRuns({ recent }: { recent: Row['recent'] }) {
  if (recent === undefined) return <Skeleton className="w-40" />;
  if (recent.runs.length === 0) return <span className="text-faint">Has not run yet</span>;
  return (
    <span className="flex min-w-0 flex-col gap-1 max-sm:w-full">
      <Ticks runs={recent.runs} />
      {recent.lastEnded !== null && (
        <span className="text-xs">
          <OutcomeLine run={recent.lastEnded} />
        </span>
      )}
    </span>
  );
}

function Spend({ spend }: { spend: Row['spend'] }) {
  if (spend === undefined) return <Skeleton className="ml-auto w-10" />;
  return <span title={exactMoney(spend)}>{money(spend)}</span>;
}

function RunNow({ routine }: { routine: Routine }) {
  const run = useVerb(RUN_NOW);
  return (
    <IconButton
      icon={run.icon}
      label={`Run ${routine.name} now`}
      size="sm"
      busy={run.isBusy}
      disabledReason={run.reasonAgainst(routine)}
      onClick={() => run.act(routine)}
    />
  );
}

/** Removes the vendor from the name of a model. */
function shortModel(modelId: string): string {
  return modelId.slice(modelId.lastIndexOf('/') + 1);
}
