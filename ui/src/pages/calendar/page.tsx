import { getRouteApi } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useMemo } from 'react';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { addDays, dayName } from '#ui/format/days.ts';
import { date } from '#ui/format/times.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { daysOf } from './entries.ts';
import { WeekGrid } from './week-grid.tsx';
import { useWeek, weekStart } from './week.ts';

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/calendar');

/** A week: runs, skipped occurrences with their reasons, and coming occurrences. */
export function CalendarPage() {
  const { projectId } = useParams();
  const search = useSearch();
  const navigate = useNavigate();
  const first = weekStart(search.week).getTime();
  const start = useMemo(() => new Date(first), [first]);
  const week = useWeek(start);
  const go = (days: number) => void navigate({ search: { week: dayName(addDays(start, days)) } });
  return (
    <>
      <PageHeader
        title="Calendar"
        description={`${date(start)} to ${date(addDays(start, 6))}, in ${VIEWER_ZONE}.`}
        actions={
          <>
            <IconButton icon={ChevronLeft} label="Week before" onClick={() => go(-7)} />
            <Button onClick={() => void navigate({ search: {} })}>This week</Button>
            <IconButton icon={ChevronRight} label="Week after" onClick={() => go(7)} />
          </>
        }
      />
      <Await of={week} skeleton={<CalendarSkeleton />} errorTitle="The week could not be read">
        {({ runs, occurrences, isCut }) => (
          <>
            {isCut && (
              <Notice tone="warn" className="mb-4">
                This week has more than fits here. The list of runs shows all.
              </Notice>
            )}
            <WeekGrid days={daysOf(start, runs, occurrences)} projectId={projectId} />
          </>
        )}
      </Await>
    </>
  );
}

/** A week to come. */
function CalendarSkeleton() {
  return (
    <div className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-7">
      {Array.from({ length: 7 }, (_, index) => (
        <div key={index} className="flex min-h-20 flex-col gap-3 bg-surface p-3 lg:min-h-96">
          <Skeleton className="w-16" />
          <Skeleton className="max-w-28" />
          {index % 2 === 0 && <Skeleton className="max-w-24" />}
        </div>
      ))}
    </div>
  );
}
