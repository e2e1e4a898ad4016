import { useRead } from '#ui/api/read.ts';
import { useNow } from '#ui/format/now.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { dueAfter, RUNNING, SHOWN } from './reads.ts';
import { Row } from './row.tsx';

const REFRESH_MS = 10_000;

/** Lists the runs under way and the runs that start within the hour. */
export function Upcoming({ projectId }: { readonly projectId: string }) {
  const running = useRead(...RUNNING, { everyMs: REFRESH_MS });
  const now = useNow(60_000).getTime();
  const due = useRead(...dueAfter(now), { everyMs: 60_000, keepPrevious: true });
  return (
    <Section
      title="Now and within the hour"
      actions={
        <TextLink to="/p/$projectId/calendar" params={{ projectId }}>
          Calendar
        </TextLink>
      }
    >
      <Await of={due} skeleton={<SkeletonRows rows={2} />} errorTitle="The schedule could not be read">
        {({ occurrences }) => {
          const runs = running.data ?? [];
          const next = occurrences.filter(({ startsAt }) => Date.parse(startsAt) > now);
          if (runs.length === 0 && next.length === 0) {
            return (
              <p className="rounded-lg border border-line bg-surface px-4 py-3 text-base text-muted">
                Nothing runs now, and nothing is due within the hour.
              </p>
            );
          }
          return (
            <>
              <ul className="-mx-2 border-t border-line">
                {runs.map((run) => (
                  <Row
                    key={run.id}
                    link={{ to: '/p/$projectId/runs/$runId', params: { projectId, runId: run.id } }}
                    title={run.routineName}
                    badge={<StateBadge state="running" />}
                    aside={<Time at={run.startedAt} as="relative" />}
                  />
                ))}
                {next.slice(0, SHOWN).map(({ routineId, routineName, startsAt }) => (
                  <Row
                    key={`${routineId} ${startsAt}`}
                    link={{
                      to: '/p/$projectId/routines/$routineId',
                      params: { projectId, routineId },
                    }}
                    title={routineName}
                    aside={<Time at={startsAt} as="countdown" />}
                  />
                ))}
              </ul>
              {next.length > SHOWN && (
                <p className="mt-2 text-sm text-muted">
                  {next.length - SHOWN} more runs within the hour are in the calendar.
                </p>
              )}
            </>
          );
        }}
      </Await>
    </Section>
  );
}
