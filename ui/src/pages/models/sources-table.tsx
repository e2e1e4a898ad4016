import type { Shape } from '#ui/api/types.ts';
import { count } from '#ui/format/numbers.ts';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type Source = Shape<'ModelSource'>;

const COLUMNS: readonly Column<Source>[] = [
  {
    key: 'source',
    header: 'Source',
    cell: (source) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-medium">{source.label}</span>
        <span className="truncate text-xs text-muted">{aboutOf(source)}</span>
      </span>
    ),
  },
  {
    key: 'state',
    header: 'State',
    width: 'w-80',
    bare: true,
    cell: ({ state, lastError }) => (
      <span className="flex min-w-0 flex-col items-start gap-0.5">
        <StateBadge state={state} />
        {lastError !== null && (
          <span className="text-xs text-muted wrap-anywhere whitespace-normal">{lastError}</span>
        )}
      </span>
    ),
  },
  {
    key: 'models',
    header: 'Models',
    width: 'w-20',
    align: 'right',
    cell: ({ models }) => count(models),
  },
  {
    key: 'latency',
    header: 'Answers in',
    width: 'w-24',
    align: 'right',
    cell: ({ latencyMs }) => (latencyMs === null ? '–' : `${count(latencyMs)} ms`),
  },
  {
    key: 'fetched',
    header: 'Last list',
    width: 'w-32',
    from: 'md',
    cell: ({ fetchedAt }) => (fetchedAt === null ? 'never' : <Time at={fetchedAt} as="relative" />),
  },
];

/** Says what the label leaves out: whose it is, its name in ids where that is another, and where it is. */
function aboutOf({ name, label, local, baseUrl }: Source): string {
  const parts = [local && 'Your own server', name !== label.toLowerCase() && name, baseUrl];
  return parts.filter((part) => typeof part === 'string').join(', ');
}

/** Lists the model servers, with what the last request to each came back with. */
export function SourcesTable({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <DataTable label="Model sources" columns={COLUMNS} rows={sources} keyOf={({ name }) => name} />
  );
}
