import { useRead } from '#ui/api/read.ts';
import { LOCALE, VIEWER_ZONE } from '#ui/format/locale.ts';
import { count, plural } from '#ui/format/numbers.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { WEEK } from './reads.ts';

/** Shows how the runs of the last seven days ended, a column each. */
export function Week({ projectId }: { readonly projectId: string }) {
  const week = useRead(...WEEK, { everyMs: 60_000 });
  // Show nothing before the first run has ended, as on a person's first day.
  const isEmpty = week.data?.days.every(({ succeeded, failed }) => succeeded + failed === 0);
  if (isEmpty === true) return null;
  return (
    <Section
      title="The week at a glance"
      actions={
        <TextLink to="/p/$projectId/calendar" params={{ projectId }}>
          Calendar
        </TextLink>
      }
    >
      <Await of={week} skeleton={<SkeletonRows rows={2} />} errorTitle="The week could not be read">
        {({ days, truncated }) => {
          const most = Math.max(...days.map(({ succeeded, failed }) => succeeded + failed), 1);
          return (
            <>
              <ol className="grid grid-cols-7 gap-1.5 rounded-lg border border-line bg-surface p-3">
                {days.map(({ date, startsAt, succeeded, failed }) => (
                  <li key={date} className="flex min-w-0 flex-col items-center gap-1 text-center">
                    <span className="sr-only">
                      {dayInWords(startsAt, 'long')}: {plural(succeeded, 'run')} succeeded, {count(failed)} failed
                    </span>
                    <div aria-hidden className="flex h-8 w-full max-w-8 flex-col justify-end">
                      <div className="rounded-t-xs bg-bad" style={{ height: heightOf(failed, most) }} />
                      <div className="bg-edge" style={{ height: heightOf(succeeded, most) }} />
                      <div className="h-px shrink-0 bg-edge" />
                    </div>
                    <span aria-hidden className="text-xs text-ink tabular">
                      {count(succeeded + failed)}
                    </span>
                    <span aria-hidden className="text-xs text-muted">
                      {dayInWords(startsAt, 'short')}
                    </span>
                    {failed > 0 && (
                      <span aria-hidden className="text-xs text-bad-ink tabular">
                        {count(failed)} failed
                      </span>
                    )}
                  </li>
                ))}
              </ol>
              {truncated && <p className="mt-2 text-sm text-muted">The newest 20,000 results are counted.</p>}
            </>
          );
        }}
      </Await>
    </Section>
  );
}

/** Returns the height of a bar; the smallest share stays visible. */
function heightOf(value: number, most: number): string {
  return value === 0 ? '0' : `${Math.max((value / most) * 100, 4)}%`;
}

function dayInWords(startsAt: string, weekday: 'long' | 'short'): string {
  return new Date(startsAt).toLocaleDateString(LOCALE, { weekday, timeZone: VIEWER_ZONE });
}
