import { getRouteApi } from '@tanstack/react-router';
import { Boxes, Server } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { count } from '#ui/format/numbers.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Input } from '#ui/parts/input.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { FiguresDialog } from './figures.tsx';
import { ModelsTable } from './models-table.tsx';
import { TestDialog } from './test.tsx';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/models');

interface Opened {
  readonly dialog: 'test' | 'figures';
  readonly option: Shape<'ModelOption'>;
}

/** Shows the model servers, whether each can be reached, and every model with its figures. */
export function ModelsPage() {
  const { q = '' } = useSearch();
  const navigate = useNavigate();
  const sources = useRead('/v1/model-sources', {}, { everyMs: 30_000 });
  const models = useRead('/v1/models', {}, { everyMs: 60_000 });
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <>
      <PageHeader
        title="Models"
        description="The models for routines, with their known prices, limits and abilities."
      />
      <Section title="Sources" description="The servers that this service asks for models.">
        <Await of={sources} skeleton={<SkeletonRows rows={2} />} errorTitle="The sources could not be read">
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState icon={Server} title="No sources">
                The operator of this service has configured no model server.
              </EmptyState>
            ) : (
              <SourcesTable sources={rows} />
            )
          }
        </Await>
      </Section>
      <Section
        title="Models"
        actions={
          <Input
            type="search"
            aria-label="Search models"
            placeholder="Search models"
            className="sm:w-64"
            value={q}
            onChange={({ target: { value } }) =>
              void navigate({
                search: (now) => ({ ...now, q: value === '' ? undefined : value }),
                replace: true,
              })
            }
          />
        }
      >
        <Await of={models} skeleton={<SkeletonRows rows={6} />} errorTitle="The models could not be read">
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState icon={Boxes} title="No models">
                No source lists a model that writes text.
              </EmptyState>
            ) : (
              <ModelsTable
                models={rows}
                search={q}
                onTest={(option) => setOpened({ dialog: 'test', option })}
                onFigures={(option) => setOpened({ dialog: 'figures', option })}
              />
            )
          }
        </Await>
      </Section>
      {opened?.dialog === 'test' && <TestDialog option={opened.option} onClose={close} />}
      {opened?.dialog === 'figures' && <FiguresDialog option={opened.option} onClose={close} />}
    </>
  );
}

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
        {lastError !== null && <span className="text-xs text-muted wrap-anywhere whitespace-normal">{lastError}</span>}
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

/** Describes a source beside its label: its owner, its address, and its name in the ids of models if that differs. */
function aboutOf({ name, label, local, baseUrl }: Source): string {
  const parts = [local && 'Your own server', name !== label.toLowerCase() && name, baseUrl];
  return parts.filter((part) => typeof part === 'string').join(', ');
}

/** Lists the model servers with the outcome of the last request to each. */
function SourcesTable({ sources }: { readonly sources: readonly Source[] }) {
  return <DataTable label="Model sources" columns={COLUMNS} rows={sources} keyOf={({ name }) => name} />;
}
