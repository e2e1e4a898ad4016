import { useList } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import { isWork, lineOf, newsBadgeOf } from '#ui/format/run-words.ts';
import { Section } from '#ui/parts/page.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

/** Shows the result or failure of a routine's last run, if there is one. */
export function LastResult({ routineId }: { readonly routineId: string }) {
  const projectId = useProjectId();
  const runs = useList(
    '/v1/routines/{routineId}/runs',
    { path: { routineId }, query: { limit: 10 } },
    { everyMs: 15_000 },
  );
  const run = runs.data?.find((each) => (each.state === 'succeeded' || each.state === 'failed') && isWork(each));
  if (run === undefined) return null;
  return (
    <Section title="Last result">
      <div className="relative rounded-lg border border-line bg-surface px-4 py-3 hover:bg-hover">
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <StateBadge state={newsBadgeOf(run)} />
          <Time at={run.finishedAt} as="relative" className="text-sm text-muted" />
        </p>
        <p className="mt-1.5 text-base wrap-anywhere">
          <RowLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.id }}>
            {lineOf(run) ?? 'Read it'}
          </RowLink>
        </p>
      </div>
    </Section>
  );
}
