import { useNavigate } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, GitCompareArrows } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { isOver } from '#ui/format/run-words.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { isBusy } from '#ui/parts/keys.ts';
import { useDocumentKeys } from '#ui/parts/page-keys.ts';

/** Leads to the results before and after this one, also by the keys `[` and `]`, and to a comparison. */
export function Nearby({ run }: { readonly run: Shape<'RunDetail'> }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { previousResultId: previous, nextResultId: next } = run;
  useDocumentKeys((event) => {
    if (event.metaKey || event.ctrlKey || isBusy(event.target)) return;
    const wanted = event.key === '[' ? previous : event.key === ']' ? next : null;
    if (wanted === null) return;
    event.preventDefault();
    void navigate({
      to: '/p/$projectId/runs/$runId',
      params: { projectId, runId: wanted },
    });
    // Let a screen reader continue at the beginning of the other page.
    document.getElementById('page')?.focus();
  });
  const to = '/p/$projectId/runs/$runId';
  if (previous === null && next === null) return null;
  return (
    <nav
      aria-label="Results of this routine"
      className="-mt-3 mb-5 -ml-2 flex flex-wrap items-center gap-1 print:hidden"
    >
      {previous !== null && (
        <ButtonLink
          kind="quiet"
          size="sm"
          icon={ChevronLeft}
          to={to}
          params={{ projectId, runId: previous }}
          aria-keyshortcuts="["
        >
          Previous result
        </ButtonLink>
      )}
      {next !== null && (
        <ButtonLink
          kind="quiet"
          size="sm"
          icon={ChevronRight}
          to={to}
          params={{ projectId, runId: next }}
          aria-keyshortcuts="]"
        >
          Next result
        </ButtonLink>
      )}
      {isOver(run) && (
        <ButtonLink
          kind="quiet"
          size="sm"
          icon={GitCompareArrows}
          to="/p/$projectId/runs/$runId/compare"
          params={{ projectId, runId: run.id }}
          search={{}}
        >
          Compare with…
        </ButtonLink>
      )}
    </nav>
  );
}
