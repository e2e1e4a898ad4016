import { getRouteApi } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useMemo } from 'react';
import { LOCALE, VIEWER_ZONE } from '#ui/format/locale.ts';
import { addDays, dayName } from '#ui/format/days.ts';
import { date } from '#ui/format/times.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { daysOf } from './entries.ts';
import { DayGrid } from './day-grid.tsx';
import { HourGrid } from './hour-grid.tsx';
import { useMoments } from './moments.ts';
import { monthOf, periodOf, VIEWS, type View } from './period.ts';

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/calendar');

/** Shows a week, a month or the hours of a week: runs, skipped occurrences with reasons, and coming occurrences. */
export function CalendarPage() {
  const { projectId } = useParams();
  const search = useSearch();
  const navigate = useNavigate();
  const view = VIEWS.find((each) => each === search.view) ?? 'week';
  const { start: first, days, before, after } = periodOf(view, search.week);
  const from = first.getTime();
  const start = useMemo(() => new Date(from), [from]);
  const moments = useMoments(start, days);
  const word = view === 'month' ? 'Month' : 'Week';
  const show = (week: string | undefined, next: View = view) =>
    void navigate({ search: { week, view: next === 'week' ? undefined : next } });
  return (
    <>
      <PageHeader
        title="Calendar"
        description={`${view === 'month' ? month.format(monthOf(start)) : `${date(start)} to ${date(addDays(start, days - 1))}`}, in ${VIEWER_ZONE}.`}
        actions={
          <>
            <Select compact label="View" options={OPTIONS} value={view} onChange={(next) => show(search.week, next)} />
            <IconButton icon={ChevronLeft} label={`${word} before`} onClick={() => show(dayName(before))} />
            <Button onClick={() => show(undefined)}>{`This ${word.toLowerCase()}`}</Button>
            <IconButton icon={ChevronRight} label={`${word} after`} onClick={() => show(dayName(after))} />
          </>
        }
      />
      <Await of={moments} skeleton={<CalendarSkeleton />} errorTitle={`The ${word.toLowerCase()} could not be read`}>
        {(found) => {
          const shown = daysOf(start, days, found);
          return (
            <>
              {found.isCut && (
                <Notice tone="warn" className="mb-4">
                  {`This ${word.toLowerCase()} has more than fits here. The list of runs shows all.`}
                </Notice>
              )}
              {shown.every(({ entries }) => entries.length === 0) && (
                <p className="mb-4 text-base text-muted">
                  {`Nothing ran in this ${word.toLowerCase()}, and nothing is due. Active routines appear here.`}
                </p>
              )}
              {view === 'hours' ? (
                <HourGrid days={shown} projectId={projectId} />
              ) : (
                <DayGrid days={shown} isMonth={view === 'month'} projectId={projectId} />
              )}
            </>
          );
        }}
      </Await>
    </>
  );
}

const month = new Intl.DateTimeFormat(LOCALE, { month: 'long', year: 'numeric' });

const OPTIONS = [
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
  { value: 'hours', label: 'Hours' },
] as const satisfies readonly { value: View; label: string }[];

function CalendarSkeleton() {
  return (
    <div className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-7">
      {Array.from({ length: 7 }, (_, index) => (
        <div key={index} className="flex min-h-20 flex-col gap-3 bg-surface p-3 lg:min-h-64">
          <Skeleton className="w-16" />
          <Skeleton className="max-w-28" />
          {index % 2 === 0 && <Skeleton className="max-w-24" />}
        </div>
      ))}
    </div>
  );
}
