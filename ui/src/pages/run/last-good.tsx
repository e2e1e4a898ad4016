import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { differencesOf } from './differences.ts';

type RunDetail = Shape<'RunDetail'>;

/** Shows what differs from the last earlier run that succeeded. */
export function LastGood({ run }: { readonly run: RunDetail }) {
  const { routineId } = run;
  const runs = useRead('/v1/routines/{routineId}/runs', {
    path: { routineId },
    query: { state: 'succeeded', until: run.createdAt, limit: 1 },
  });
  const before = runs.data?.[0];
  const good = useRead(
    '/v1/runs/{runId}',
    { path: { runId: before?.id ?? '' } },
    { enabled: before !== undefined },
  );
  // A reader of the run does not need the error of a side note.
  if (runs.error !== null || good.error !== null) return null;
  return (
    <section className="mt-6" aria-labelledby="last-good">
      <h2 id="last-good" className="mb-2 text-sm font-semibold text-ink">
        Against the last good run
      </h2>
      {runs.data !== undefined && before === undefined ? (
        <p className="text-sm text-muted">None has succeeded before this one.</p>
      ) : good.data === undefined ? (
        <Skeleton className="w-40" />
      ) : (
        <Comparison run={run} good={good.data} />
      )}
    </section>
  );
}

function Comparison({ run, good }: { run: RunDetail; good: RunDetail }) {
  const projectId = useProjectId();
  const differences = differencesOf(run, good);
  return (
    <>
      <p className="mb-2 text-sm">
        <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: good.id }}>
          <Time at={good.startedAt ?? good.createdAt} />
        </TextLink>
      </p>
      {differences.length === 0 ? (
        <p className="text-sm text-muted">Same version, model, variables and tools.</p>
      ) : (
        <dl className="flex flex-col gap-1.5">
          {differences.map(({ label, before, now }) => (
            <div key={label} className="grid grid-cols-[5.5rem_1fr] gap-3 text-sm">
              <dt className="text-faint">{label}</dt>
              <dd className="min-w-0 text-ink wrap-anywhere">
                <span className="text-muted">{before}</span>
                <span aria-hidden className="text-faint">
                  {' → '}
                </span>
                <span className="sr-only">, now </span>
                {now}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
