import { getRouteApi } from '@tanstack/react-router';
import { Boxes, Server } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Input } from '#ui/parts/input.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { FiguresDialog } from './figures.tsx';
import { ModelsTable } from './models-table.tsx';
import { SourcesTable } from './sources-table.tsx';
import { TestDialog } from './test.tsx';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/models');

interface Opened {
  readonly dialog: 'test' | 'figures';
  readonly option: Shape<'ModelOption'>;
}

/** Shows the servers that models come from, whether each can be reached, and every model with what is known of it. */
export function ModelsPage() {
  const { q = '' } = useSearch();
  const navigate = useNavigate();
  const sources = useRead('/v1/model-sources', {}, { everyMs: 30_000 });
  const models = useRead('/v1/models', {}, { everyMs: 60_000 });
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <>
      <PageHeader title="Models" description="What routines can run on, and what is known of it." />
      <Section title="Sources" description="The servers that this service asks for models.">
        <Await
          of={sources}
          skeleton={<SkeletonRows rows={2} />}
          errorTitle="The sources could not be read"
        >
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
        <Await
          of={models}
          skeleton={<SkeletonRows rows={6} />}
          errorTitle="The models could not be read"
        >
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
