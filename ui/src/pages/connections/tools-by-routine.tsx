import { useNavigate } from '@tanstack/react-router';
import { useList } from '#ui/api/hooks.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Combobox } from '#ui/parts/combobox.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';

type RoutineSummary = Shape<'RoutineSummary'>;

/** Names the routines that may call tools of a connection, and leads to the tools of any routine. */
export function ToolsByRoutine({ connection }: { readonly connection: Shape<'Connection'> }) {
  const projectId = useProjectId();
  const using = useList('/v1/routines', { query: { uses: connection.id, limit: 50 } });
  return (
    <div className="flex flex-col gap-4">
      <Await of={using} skeleton={<Skeleton className="w-64" />}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-sm text-muted">No routine may call its tools yet.</p>
          ) : (
            <ul className="flex flex-col gap-1.5">
              {rows.map(({ id, name, state }) => (
                <li key={id} className="flex flex-wrap items-center gap-2 text-sm">
                  <TextLink
                    to="/p/$projectId/routines/$routineId/tools"
                    params={{ projectId, routineId: id }}
                    search={{ connection: connection.id }}
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
      <Pager list={using} />
      <ChooseRoutine connection={connection} />
    </div>
  );
}

function ChooseRoutine({ connection }: { readonly connection: Shape<'Connection'> }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const routines = useList('/v1/routines', { query: { limit: 200 } });
  const open = routines.data?.filter(({ state }) => state !== 'archived') ?? [];
  if (open.length === 0) return null;
  return (
    <Field label="Choose tools for a routine" className="max-w-80">
      <Combobox<RoutineSummary>
        items={open}
        value={null}
        keyOf={({ id }) => id}
        labelOf={({ name }) => name}
        placeholder="Find a routine"
        empty="No routine of that name."
        onChange={({ id }) =>
          void navigate({
            to: '/p/$projectId/routines/$routineId/tools',
            params: { projectId, routineId: id },
            search: { connection: connection.id },
          })
        }
      />
    </Field>
  );
}
