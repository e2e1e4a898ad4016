import { getRouteApi } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useList } from '#ui/api/read.ts';
import type { InputOf } from '#ui/api/types.ts';
import { addDays, dayStart } from '#ui/format/days.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { FilterBar, type Search } from './filters.tsx';
import { RunTable } from './run-table.tsx';

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/runs');

const REFRESH_MS = 5_000;

/** Lists the runs of the project, the newest first. The address keeps the filters. */
export function RunsPage() {
  const { projectId } = useParams();
  const search = useSearch();
  const navigate = useNavigate();
  // An address may name states and triggers that do not exist.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks them
  const query = queryOf(search) as NonNullable<InputOf<'/v1/runs', 'get'>['query']>;
  const runs = useList('/v1/runs', { query }, { everyMs: REFRESH_MS, keepPrevious: true });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHeader title="Runs" />
      <FilterBar
        search={search}
        onChange={(change, replace = false) => void navigate({ search: (now) => ({ ...now, ...change }), replace })}
      />
      <Await of={runs} skeleton={<SkeletonRows rows={8} />} errorTitle="The runs could not be read">
        {(rows) => {
          if (rows.length > 0) {
            return (
              <>
                <RunTable runs={rows} />
                <Pager list={runs} />
              </>
            );
          }
          return isFiltered ? (
            <EmptyState
              icon={Play}
              title="No run fits these filters"
              action={<Button onClick={() => void navigate({ search: {} })}>Show all runs</Button>}
            />
          ) : (
            <EmptyState
              icon={Play}
              title="No runs yet"
              action={
                <ButtonLink kind="primary" to="/p/$projectId/routines" params={{ projectId }}>
                  Go to routines
                </ButtonLink>
              }
            >
              Run a routine once to see its result.
            </EmptyState>
          );
        }}
      </Await>
    </>
  );
}

/** Makes the API's query of the page's address: its days become instants in the reader's time zone. */
function queryOf({ since, until, ...rest }: Search) {
  const from = dayStart(since);
  const to = dayStart(until);
  return {
    limit: 50,
    ...rest,
    ...(from === undefined ? {} : { since: from.toISOString() }),
    // Include the last day.
    ...(to === undefined ? {} : { until: addDays(to, 1).toISOString() }),
  };
}
