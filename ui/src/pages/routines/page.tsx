import { getRouteApi } from '@tanstack/react-router';
import { LayoutTemplate, ListChecks, Plus, SearchX } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import { useSettled } from '#ui/api/read.ts';
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

export function RoutinesPage() {
  const { state: asked, search = '' } = useSearch();
  const navigate = useNavigate();
  const shown = shownOf(asked);
  const { routines, rows } = useRoutines(shown, useSettled(search.trim()));
  const isFiltered = shown !== undefined || search !== '';
  return (
    <>
      <PageHeader title="Routines" actions={<Begin />} />
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
              <Found rows={all} isComplete={!routines.hasMore} onClear={() => void navigate({ search: {} })} />
            </>
          )
        }
      </Await>
      <Pager list={routines} />
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
      No routine has this state and this name.
    </EmptyState>
  );
}

function NoRoutines() {
  return (
    <EmptyState icon={ListChecks} title="No routines yet" action={<Begin />}>
      A routine is work that runs by itself, on time, and delivers its result. Write down what it should do, run it
      once, and put it on its schedule.
    </EmptyState>
  );
}

function Begin() {
  const projectId = useProjectId();
  return (
    <span className="flex flex-wrap gap-2">
      <ButtonLink icon={LayoutTemplate} to="/p/$projectId/start" params={{ projectId }}>
        Templates
      </ButtonLink>
      <ButtonLink kind="primary" icon={Plus} to="/p/$projectId/routines/new" params={{ projectId }}>
        New routine
      </ButtonLink>
    </span>
  );
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
