import { CircleCheck } from 'lucide-react';
import { useMemo } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { stateReasonInWords } from '#ui/format/routine-words.ts';
import { reasonOf } from '#ui/format/run-words.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Row } from './row.tsx';
import { since } from './since.ts';

type RunSummary = Shape<'RunSummary'>;

const REFRESH_MS = 15_000;
const DAY_MS = 86_400_000;
const SHOWN = 100;

/** Lists what has failed within a day and what the service has paused. */
export function Attention({ projectId }: { readonly projectId: string }) {
  const day = useMemo(() => since(DAY_MS), []);
  const failed = useRead(
    '/v1/runs',
    { query: { state: 'failed', since: day, limit: SHOWN } },
    { everyMs: REFRESH_MS },
  );
  const routines = useRead('/v1/routines', { query: { limit: 100 } }, { everyMs: 30_000 });
  const paused = (routines.data ?? []).filter(
    ({ state, stateReason }) => state === 'paused' && stateReason !== null,
  );
  return (
    <Section
      title="Needs attention"
      description="Failed within the last 24 hours, or paused by the service."
      actions={
        <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ state: 'failed' }}>
          All failed runs
        </TextLink>
      }
    >
      <Await
        of={failed}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="The failed runs could not be read"
      >
        {(runs) => {
          const groups = [...Map.groupBy(runs, ({ routineId }) => routineId).values()];
          if (groups.length === 0 && paused.length === 0) return <AllWell />;
          return (
            <ul className="border-t border-line">
              {paused.map((routine) => (
                <Row
                  key={routine.id}
                  link={{
                    to: '/p/$projectId/routines/$routineId',
                    params: { projectId, routineId: routine.id },
                  }}
                  title={routine.name}
                  badge={<StateBadge state="paused" />}
                  line={stateReasonInWords(routine.stateReason ?? '')}
                  aside={<Time at={routine.updatedAt} as="relative" />}
                />
              ))}
              {groups.map((group) => (
                <Failed key={group[0]?.id} runs={group} projectId={projectId} />
              ))}
            </ul>
          );
        }}
      </Await>
    </Section>
  );
}

function Failed({ runs, projectId }: { runs: readonly RunSummary[]; projectId: string }) {
  const [latest] = runs;
  if (latest === undefined) return null;
  return (
    <Row
      link={{ to: '/p/$projectId/runs/$runId', params: { projectId, runId: latest.id } }}
      title={latest.routineName}
      badge={<StateBadge state="failed" />}
      line={reasonOf(latest) ?? ''}
      aside={
        <>
          {runs.length > 1 && <span>{plural(runs.length, 'time')}, last </span>}
          <Time at={latest.finishedAt ?? latest.createdAt} as="relative" />
        </>
      }
    />
  );
}

function AllWell() {
  return (
    <p className="flex items-center gap-2 rounded-lg border border-line bg-surface px-4 py-3 text-base text-muted">
      <CircleCheck aria-hidden className="size-4 shrink-0 text-good" strokeWidth={1.75} />
      Nothing has failed in the last 24 hours.
    </p>
  );
}
