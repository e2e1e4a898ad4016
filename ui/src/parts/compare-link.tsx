import { GitCompareArrows } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import { isOver } from '#ui/format/run-words.ts';
import { ButtonLink } from './button.tsx';

export interface CompareLinkProps {
  readonly run: { readonly id: string; readonly state: string };
}

/** Leads from a row of runs to a comparison with another run of the routine. */
export function CompareLink({ run }: CompareLinkProps) {
  const projectId = useProjectId();
  if (!isOver(run) || run.state === 'skipped') return null;
  return (
    <ButtonLink
      kind="quiet"
      size="sm"
      icon={GitCompareArrows}
      to="/p/$projectId/runs/$runId/compare"
      params={{ projectId, runId: run.id }}
      search={{}}
      title="Compare with…"
      className="px-1.5!"
    >
      <span className="sr-only">Compare with another run</span>
    </ButtonLink>
  );
}
