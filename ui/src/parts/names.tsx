import type { ReactNode } from 'react';
import { useRead, type LoadedList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Await } from './feedback.tsx';
import { Pager } from './pager.tsx';
import { Skeleton } from './skeleton.tsx';
import { StateBadge } from './state.tsx';

export interface RoutineNamesProps {
  readonly routines: LoadedList<Shape<'RoutineSummary'>>;
  /** One sentence for an empty list. */
  readonly empty: string;
  /** Makes the link to a routine, with its name as the text. */
  readonly linkOf: (routine: Shape<'RoutineSummary'>) => ReactNode;
}

/** Lists routines by name and state, page by page. */
export function RoutineNames({ routines, empty, linkOf }: RoutineNamesProps) {
  return (
    <>
      <Await of={routines} skeleton={<Skeleton className="w-48" />}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-sm text-muted">{empty}</p>
          ) : (
            <ul className="flex flex-col gap-1.5">
              {rows.map((routine) => (
                <li key={routine.id} className="flex flex-wrap items-center gap-2 text-sm">
                  {linkOf(routine)}
                  <StateBadge state={routine.state} />
                </li>
              ))}
            </ul>
          )
        }
      </Await>
      <Pager list={routines} />
    </>
  );
}

/** Names a skill; shows its id until the name is read. */
export function SkillName({ id }: { readonly id: string }) {
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId: id } }, { staleMs: 600_000 });
  return skill.data?.name ?? id;
}

/** Names skills in a line. */
export function SkillNames({ ids }: { readonly ids: readonly string[] }) {
  return ids.map((id, nth) => (
    <span key={id}>
      {nth > 0 && ', '}
      <SkillName id={id} />
    </span>
  ));
}
