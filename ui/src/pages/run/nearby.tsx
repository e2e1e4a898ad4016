import { useNavigate } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, GitCompareArrows } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { isOver } from '#ui/format/run-words.ts';
import { dateTime } from '#ui/format/times.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { isBusy } from '#ui/parts/keys.ts';
import { useNeighbours } from '#ui/parts/neighbours.ts';

/** Leads to the results before and after this one, by `[` and `]` as well, and to a comparison. */
export function Nearby({ run }: { readonly run: Shape<'RunDetail'> }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { previous, next } = useNeighbours(run, { withFailed: true });
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || isBusy(event.target)) return;
    const wanted = event.key === '[' ? previous : event.key === ']' ? next : undefined;
    if (wanted === undefined) return;
    event.preventDefault();
    void navigate({
      to: '/p/$projectId/runs/$runId',
      params: { projectId, runId: wanted.id },
    });
    // Readers of the screen go on at the beginning of the other page.
    document.getElementById('page')?.focus();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  const to = '/p/$projectId/runs/$runId';
  const hasOther = previous !== undefined || next !== undefined;
  if (!hasOther) return null;
  return (
    <nav
      aria-label="Results of this routine"
      className="-mt-3 mb-5 -ml-2 flex flex-wrap items-center gap-1 print:hidden"
    >
      {previous !== undefined && (
        <ButtonLink
          kind="quiet"
          size="sm"
          icon={ChevronLeft}
          to={to}
          params={{ projectId, runId: previous.id }}
          aria-keyshortcuts="["
          title={timeOf(previous)}
        >
          Previous result
        </ButtonLink>
      )}
      {next !== undefined && (
        <ButtonLink
          kind="quiet"
          size="sm"
          icon={ChevronRight}
          to={to}
          params={{ projectId, runId: next.id }}
          aria-keyshortcuts="]"
          title={timeOf(next)}
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

function timeOf({ startedAt, createdAt }: Shape<'RunSummary'>): string {
  return dateTime(new Date(startedAt ?? createdAt));
}
