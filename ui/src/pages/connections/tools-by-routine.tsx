import { useNavigate } from '@tanstack/react-router';
import { useList } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { RoutineChoice } from '#ui/parts/routine-choice.tsx';
import { RoutineNames } from '#ui/parts/names.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';

/** Names the routines that may call tools of a connection, and opens the tools of any routine. */
export function ToolsByRoutine({ connection }: { readonly connection: Shape<'Connection'> }) {
  const projectId = useProjectId();
  const using = useList('/v1/routines', { query: { uses: connection.id, limit: 50 } });
  return (
    <div className="flex flex-col gap-4">
      <RoutineNames
        routines={using}
        empty="No routine may call tools of this connection yet."
        linkOf={({ id, name }) => (
          <TextLink
            to="/p/$projectId/routines/$routineId/tools"
            params={{ projectId, routineId: id }}
            search={{ connection: connection.id }}
          >
            {name}
          </TextLink>
        )}
      />
      <ChooseRoutine connection={connection} />
    </div>
  );
}

function ChooseRoutine({ connection }: { readonly connection: Shape<'Connection'> }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  return (
    <Field label="Choose tools for a routine" className="max-w-80">
      <RoutineChoice
        open
        onChoose={(routineId) =>
          void navigate({
            to: '/p/$projectId/routines/$routineId/tools',
            params: { projectId, routineId },
            search: { connection: connection.id },
          })
        }
      />
    </Field>
  );
}
