import { Plus } from 'lucide-react';
import { useList, type LoadedList } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Section } from '#ui/parts/page.tsx';
import { RoutineNames } from '#ui/parts/names.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';

/** Reads the routines that have a skill attached. */
export function useRoutinesWith(skill: string): LoadedList<Shape<'RoutineSummary'>> {
  return useList('/v1/routines', { query: { uses: skill, limit: 50 } });
}

/** Names the routines that have a skill attached. */
export function UsedBy({ skill }: { readonly skill: string }) {
  const projectId = useProjectId();
  return (
    <Section title="Used by">
      <RoutineNames
        routines={useRoutinesWith(skill)}
        empty="No routine yet."
        linkOf={({ id, name }) => (
          <TextLink to="/p/$projectId/routines/$routineId" params={{ projectId, routineId: id }}>
            {name}
          </TextLink>
        )}
      />
    </Section>
  );
}

/** Begins a routine around a skill. */
export function UseInRoutine({ skill }: { readonly skill: string }) {
  const projectId = useProjectId();
  return (
    <ButtonLink kind="primary" icon={Plus} to="/p/$projectId/routines/new" params={{ projectId }} search={{ skill }}>
      Use in a routine
    </ButtonLink>
  );
}
