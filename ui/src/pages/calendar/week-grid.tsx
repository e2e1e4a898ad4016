import type { KeyboardEvent } from 'react';
import { LOCALE } from '#ui/format/locale.ts';
import { useNow } from '#ui/format/now.ts';
import { cx } from '#ui/parts/cx.ts';
import type { Day } from './entries.ts';
import { EntryBox } from './entry-box.tsx';
import { dayName } from './week.ts';

export interface WeekGridProps {
  readonly days: readonly Day[];
  readonly projectId: string;
}

/** Seven days side by side, on a phone one below the other; arrows go from one thing to the next. */
export function WeekGrid({ days, projectId }: WeekGridProps) {
  const today = dayName(useNow(60_000));
  const isEmpty = days.every(({ entries }) => entries.length === 0);
  return (
    <>
      {isEmpty && (
        <p className="mb-4 text-base text-muted">
          Nothing ran in this week, and nothing is due. Active routines appear here.
        </p>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrows are a shortcut beside Tab */}
      <ol
        aria-label="Days"
        onKeyDown={moveByArrow}
        className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-7"
      >
        {days.map(({ start, entries }) => {
          const isToday = dayName(start) === today;
          return (
            <li
              key={start.getTime()}
              data-day
              aria-current={isToday ? 'date' : undefined}
              className={cx(
                'min-w-0 bg-surface p-3 lg:min-h-96 lg:px-2',
                entries.length === 0 && 'max-lg:py-2',
              )}
            >
              <h2 className="mb-2 flex items-center gap-1.5 px-1 text-sm">
                <span className={isToday ? 'font-semibold text-accent-ink' : 'text-muted'}>
                  {isToday ? 'Today' : weekday.format(start)}
                </span>
                <span
                  className={cx(
                    'tabular',
                    isToday ? 'font-semibold text-accent-ink' : 'font-medium text-ink',
                  )}
                >
                  {dayOfMonth.format(start)}
                </span>
              </h2>
              <ul className="flex flex-col gap-2">
                {entries.map((entry) => (
                  <EntryBox key={entry.routineId} entry={entry} projectId={projectId} />
                ))}
              </ul>
            </li>
          );
        })}
      </ol>
    </>
  );
}

const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'short' });
const dayOfMonth = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' });

const STOPS = 'a, button';

/** Moves the focus up and down within a day, and left and right to the next day that has entries. */
function moveByArrow(event: KeyboardEvent<HTMLElement>): void {
  const { target, key, currentTarget } = event;
  if (!(target instanceof HTMLElement)) return;
  const day = target.closest('[data-day]');
  if (day === null) return;
  const stops = [...day.querySelectorAll<HTMLElement>(STOPS)];
  const index = stops.indexOf(target);
  const next =
    key === 'ArrowDown'
      ? stops[index + 1]
      : key === 'ArrowUp'
        ? stops[index - 1]
        : key === 'ArrowRight' || key === 'ArrowLeft'
          ? neighbour(currentTarget, day, key === 'ArrowRight' ? 1 : -1, index)
          : undefined;
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function neighbour(
  grid: HTMLElement,
  day: Element,
  step: 1 | -1,
  index: number,
): HTMLElement | undefined {
  const days = [...grid.querySelectorAll('[data-day]')];
  for (let at = days.indexOf(day) + step; at >= 0 && at < days.length; at += step) {
    const stops = [...(days[at]?.querySelectorAll<HTMLElement>(STOPS) ?? [])];
    if (stops.length > 0) return stops[Math.min(index, stops.length - 1)];
  }
  return undefined;
}
