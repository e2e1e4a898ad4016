import { useList, type LoadedList } from '#ui/api/hooks.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';

/** Reads the routines that have a skill attached. */
export function useRoutinesWith(skill: string): LoadedList<Shape<'RoutineSummary'>> {
  return useList('/v1/routines', { query: { uses: skill, limit: 50 } });
}

/** Names the routines that have a skill attached. */
export function UsedBy({ skill }: { readonly skill: string }) {
  const projectId = useProjectId();
  const routines = useRoutinesWith(skill);
  return (
    <Section title="Used by">
      <Await of={routines} skeleton={<Skeleton className="w-48" />}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-sm text-muted">
              No routine yet. Attach it where you edit a routine, under skills.
            </p>
          ) : (
            <ul className="flex flex-col gap-1.5">
              {rows.map(({ id, name, state }) => (
                <li key={id} className="flex flex-wrap items-center gap-2 text-sm">
                  <TextLink
                    to="/p/$projectId/routines/$routineId"
                    params={{ projectId, routineId: id }}
                  >
                    {name}
                  </TextLink>
                  <StateBadge state={state} />
                </li>
              ))}
            </ul>
          )
        }
      </Await>
      <Pager list={routines} />
    </Section>
  );
}
