import { getRouteApi } from '@tanstack/react-router';
import { ListChecks, Plus, SearchX } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Input } from '#ui/parts/input.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { SHOWN, shownOf, useRoutines, type Row, type Shown } from './recent.ts';
import { RoutineTable } from './routine-table.tsx';

const { useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines');

/** Rows that are drawn at first, and more at a time: a search reads all, and drawing thousands would slow its keys. */
const PAGE = 200;

export function RoutinesPage() {
  const { state: asked, search = '' } = useSearch();
  const navigate = useNavigate();
  const shown = shownOf(asked);
  const isSearched = search.trim() !== '';
  const { routines, rows } = useRoutines(shown, { isSearched });
  const [drawn, setDrawn] = useState(PAGE);
  const found = useMemo(() => rows?.filter((row) => fits(row, search)) ?? [], [rows, search]);
  const isFiltered = shown !== undefined || search !== '';
  return (
    <>
      <PageHeader title="Routines" actions={<NewRoutine />} />
      <Await of={{ data: rows, error: routines.error, refetch: routines.refetch }} skeleton={<SkeletonRows rows={6} />}>
        {(all) =>
          all.length === 0 && !isFiltered && !routines.hasMore ? (
            <NoRoutines />
          ) : (
            <>
              <Filters
                shown={shown}
                search={search}
                onShown={(next) => void navigate({ search: (now) => ({ ...now, state: next ?? '' }) })}
                onSearch={(next) => void navigate({ search: (now) => ({ ...now, search: next }), replace: true })}
              />
              <Found
                rows={found.slice(0, drawn)}
                isComplete={!routines.hasMore}
                onClear={() => void navigate({ search: {} })}
              />
            </>
          )
        }
      </Await>
      <Pager
        list={{
          hasMore: found.length > drawn || (routines.hasMore && !isSearched),
          isLoadingMore: routines.isLoadingMore,
          loadMore: () => {
            setDrawn(drawn + PAGE);
            if (routines.hasMore && found.length < drawn + PAGE) routines.loadMore();
          },
        }}
      />
    </>
  );
}

interface FoundProps {
  readonly rows: readonly Row[];
  /** True once all routines are read, so that a search that finds none is final. */
  readonly isComplete: boolean;
  readonly onClear: () => void;
}

function Found({ rows, isComplete, onClear }: FoundProps) {
  if (rows.length > 0) return <RoutineTable rows={rows} />;
  if (!isComplete) return <p className="py-4 text-center text-base text-muted">Looking through the other routines</p>;
  return (
    <EmptyState icon={SearchX} title="No routine fits" action={<Button onClick={onClear}>Show all</Button>}>
      Nothing has this state and this name.
    </EmptyState>
  );
}

function NoRoutines() {
  return (
    <EmptyState icon={ListChecks} title="No routines yet" action={<NewRoutine />}>
      A routine is work that runs by itself, on time, and delivers its result. Write down what it should do, run it
      once, and put it on its schedule.
    </EmptyState>
  );
}

function NewRoutine() {
  const projectId = useProjectId();
  return (
    <ButtonLink kind="primary" icon={Plus} to="/p/$projectId/routines/new" params={{ projectId }}>
      New routine
    </ButtonLink>
  );
}

function fits({ routine }: Row, search: string): boolean {
  return routine.name.toLowerCase().includes(search.trim().toLowerCase());
}

const OPTIONS = [{ value: 'all', label: 'All but archived' }, ...SHOWN] as const;

interface FiltersProps {
  readonly shown: Shown | undefined;
  readonly search: string;
  readonly onShown: (shown: Shown | undefined) => void;
  readonly onSearch: (search: string) => void;
}

function Filters({ shown, search, onShown, onSearch }: FiltersProps) {
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Input
        type="search"
        aria-label="Search by name"
        placeholder="Search by name"
        defaultValue={search}
        onChange={({ target }) => onSearch(target.value)}
        className="sm:max-w-64"
      />
      <Select
        compact
        label="State"
        options={OPTIONS}
        value={shown ?? 'all'}
        onChange={(next) => onShown(next === 'all' ? undefined : next)}
      />
    </div>
  );
}
