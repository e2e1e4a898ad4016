import type { LinkProps } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { bothOf, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { stateReasonInWords } from '#ui/format/routine-words.ts';
import { reasonOf } from '#ui/format/run-words.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

type Routine = Shape<'RoutineSummary'>;
type RunSummary = Shape<'RunSummary'>;

const REFRESH_MS = 15_000;
const DAY_MS = 86_400_000;
const LATEST_FAILED = 100;
const MOST_STOPPED = 8;

/** Lists what has failed within a day and what the service has stopped. */
export function Attention({ projectId }: { readonly projectId: string }) {
  const day = useMemo(() => since(DAY_MS), []);
  const failed = useRead(
    '/v1/runs',
    { query: { state: 'failed', since: day, limit: LATEST_FAILED } },
    { everyMs: REFRESH_MS },
  );
  const stopped = useRead(
    '/v1/routines',
    { query: { stateChangedBy: 'service', limit: MOST_STOPPED + 1 } },
    { everyMs: 30_000 },
  );
  return (
    <Section
      title="Needs attention"
      description="Failed within the last 24 hours, or stopped by the service."
      actions={
        <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ state: 'failed' }}>
          All failed runs
        </TextLink>
      }
    >
      <Await
        of={bothOf(failed, stopped)}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="What needs attention could not be read"
      >
        {([runs, routines]) => {
          if (runs.length === 0 && routines.length === 0) return <AllWell />;
          const isCut = runs.length === LATEST_FAILED;
          const groups = [...Map.groupBy(runs, ({ routineId }) => routineId).values()];
          return (
            <>
              <ul className="border-t border-line">
                {routines.slice(0, MOST_STOPPED).map((routine) => (
                  <Stopped key={routine.id} routine={routine} projectId={projectId} />
                ))}
                {groups.map((group) => (
                  <Failed key={group[0]?.id} runs={group} isCut={isCut} projectId={projectId} />
                ))}
              </ul>
              {routines.length > MOST_STOPPED && (
                <p className="mt-2 text-sm text-muted">
                  More routines are stopped.{' '}
                  <TextLink
                    to="/p/$projectId/routines"
                    params={{ projectId }}
                    search={{ state: 'stopped' }}
                  >
                    Show all
                  </TextLink>
                </p>
              )}
            </>
          );
        }}
      </Await>
    </Section>
  );
}

function Stopped({ routine, projectId }: { routine: Routine; projectId: string }) {
  return (
    <Row
      link={{
        to: '/p/$projectId/routines/$routineId',
        params: { projectId, routineId: routine.id },
      }}
      title={routine.name}
      badge={<StateBadge state={routine.state} />}
      line={stateReasonInWords(routine.stateReason ?? '')}
      aside={<Time at={routine.updatedAt} as="relative" />}
    />
  );
}

interface FailedProps {
  /** Runs of one routine, the latest first. */
  readonly runs: readonly RunSummary[];
  /** True when there may be more of them than were read. */
  readonly isCut: boolean;
  readonly projectId: string;
}

function Failed({ runs, isCut, projectId }: FailedProps) {
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
          {runs.length > 1 && (
            <span>
              {isCut && 'at least '}
              {plural(runs.length, 'time')}, last{' '}
            </span>
          )}
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

interface RowProps {
  readonly link: LinkProps;
  readonly title: string;
  readonly badge?: ReactNode;
  /** Detail below the title. */
  readonly line?: string;
  /** Time or figure at the end of the row. */
  readonly aside: ReactNode;
}

/** Shows one entry of a short list, all of which is a link. */
export function Row({ link, title, badge, line = '', aside }: RowProps) {
  return (
    <li className="relative border-b border-line py-2.5 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <RowLink {...link} className="min-w-0 truncate text-base">
          {title}
        </RowLink>
        {badge}
        <span className="ml-auto text-sm text-muted tabular">{aside}</span>
      </div>
      {line !== '' && <p className="mt-0.5 line-clamp-2 text-sm text-muted">{line}</p>}
    </li>
  );
}

const MINUTE_MS = 60_000;

/**
 * Returns the instant so long ago, to the minute, so that the address of a read stays the same while the page is open.
 */
export function since(ms: number, now = Date.now()): string {
  return new Date(Math.floor((now - ms) / MINUTE_MS) * MINUTE_MS).toISOString();
}
