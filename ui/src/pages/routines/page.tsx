import { getRouteApi } from '@tanstack/react-router';
import { ListChecks, Plus, SearchX } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Filters } from './filters.tsx';
import { useRoutines, type Row } from './recent.ts';
import { RoutineTable } from './routine-table.tsx';

const { useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines');

type State = Shape<'RoutineSummary'>['state'];

const STATES: readonly State[] = ['draft', 'active', 'paused', 'archived'];

export function RoutinesPage() {
  const { state: asked, search = '' } = useSearch();
  const navigate = useNavigate();
  const state = STATES.find((each) => each === asked);
  const { routines, rows } = useRoutines(state);
  const isFiltered = state !== undefined || search !== '';
  return (
    <>
      <PageHeader title="Routines" actions={<NewRoutine />} />
      <Await of={{ ...routines, data: rows }} skeleton={<SkeletonRows rows={6} />}>
        {(all) =>
          all.length === 0 && !isFiltered ? (
            <NoRoutines />
          ) : (
            <>
              <Filters
                state={state}
                search={search}
                onState={(next) =>
                  void navigate({ search: (now) => ({ ...now, state: next ?? '' }) })
                }
                onSearch={(next) =>
                  void navigate({ search: (now) => ({ ...now, search: next }), replace: true })
                }
              />
              <Found
                rows={all.filter((row) => fits(row, search))}
                onClear={() => void navigate({ search: {} })}
              />
            </>
          )
        }
      </Await>
      <Pager list={routines} />
    </>
  );
}

function Found({ rows, onClear }: { rows: readonly Row[]; onClear: () => void }) {
  if (rows.length > 0) return <RoutineTable rows={rows} />;
  return (
    <EmptyState
      icon={SearchX}
      title="No routine fits"
      action={<Button onClick={onClear}>Show all</Button>}
    >
      Nothing has this state and this name.
    </EmptyState>
  );
}

function NoRoutines() {
  return (
    <EmptyState icon={ListChecks} title="No routines yet" action={<NewRoutine />}>
      A routine is work that runs by itself, on time, and delivers its result. Write down what it
      should do, run it once, and put it on its schedule.
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
