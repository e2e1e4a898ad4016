import { Wrench } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { EmptyState } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Badge } from '#ui/parts/state.tsx';

/** Lists the tools that a run would be offered now. */
export default function ToolsTab({ routine }: { readonly routine: Shape<'RoutineDetail'> }) {
  const projectId = useProjectId();
  const manage = (
    <ButtonLink
      icon={Wrench}
      to="/p/$projectId/routines/$routineId/tools"
      params={{ projectId, routineId: routine.id }}
    >
      Choose tools
    </ButtonLink>
  );
  if (routine.callableTools.length === 0) {
    return (
      <EmptyState icon={Wrench} title="This routine may call no tool" action={manage}>
        Runs of this routine only write. Give the routine tools of a connection; you confirm each tool.
      </EmptyState>
    );
  }
  return (
    <Section
      title="What a run may call"
      description="A person has confirmed each tool. Calls of held tools wait in the inbox."
      actions={manage}
    >
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {routine.callableTools.map(({ name, connectionId }) => (
          <li key={name} className="flex min-h-11 flex-wrap items-center gap-x-3 px-4 py-2">
            <code className="min-w-0 grow text-sm wrap-anywhere text-ink">{name}</code>
            <Badge>{connectionId === null ? 'Built in' : 'Connection'}</Badge>
          </li>
        ))}
      </ul>
    </Section>
  );
}
