import { Link } from '@tanstack/react-router';
import { useState, type KeyboardEvent } from 'react';
import { drawn } from '#ui/format/drawn.ts';
import { dayName } from '#ui/format/days.ts';
import { LOCALE } from '#ui/format/locale.ts';
import { useNow } from '#ui/format/now.ts';
import { count } from '#ui/format/numbers.ts';
import { clock, exactTime } from '#ui/format/times.ts';
import { cx } from '#ui/parts/cx.ts';
import { describeState, Dot, toneOf } from '#ui/parts/state.tsx';
import type { Day, Entry, Moment } from './entries.ts';
import { monthOf } from './period.ts';

export interface DayGridProps {
  readonly days: readonly Day[];
  /** Shows one line for each routine of a day, because a month has no room for more. */
  readonly isMonth: boolean;
  readonly projectId: string;
}

/** Shows weeks of seven days side by side, on a phone below each other. Arrow keys move between entries. */
export function DayGrid({ days, isMonth, projectId }: DayGridProps) {
  const today = dayName(useNow(60_000));
  const Shown = isMonth ? EntryLine : EntryBox;
  const month = isMonth && days[0] !== undefined ? monthOf(days[0].start).getMonth() : undefined;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrows are a shortcut beside Tab */}
      <ol
        aria-label="Days"
        onKeyDown={moveByArrow}
        className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-7"
      >
        {days.map(({ start, entries }) => {
          const isToday = dayName(start) === today;
          const isOutside = month !== undefined && start.getMonth() !== month;
          return (
            <li
              key={start.getTime()}
              data-day
              aria-current={isToday ? 'date' : undefined}
              className={cx(
                'min-w-0 p-3 lg:px-2',
                isOutside ? 'bg-sunken max-lg:hidden' : 'bg-surface',
                isMonth ? 'lg:min-h-28' : 'lg:min-h-64',
                entries.length === 0 && 'max-lg:py-2',
                entries.length === 0 && isMonth && 'max-lg:hidden',
              )}
            >
              <h2 className="mb-2 flex items-center gap-1.5 px-1 text-sm">
                <span className={isToday ? 'font-semibold text-accent-ink' : 'text-muted'}>
                  {isToday ? 'Today' : weekday.format(start)}
                </span>
                <span
                  className={cx(
                    'tabular',
                    isToday ? 'font-semibold text-accent-ink' : isOutside ? 'text-muted' : 'font-medium text-ink',
                  )}
                >
                  {dayOfMonth.format(start)}
                </span>
              </h2>
              <ul className={cx('flex flex-col', isMonth ? 'gap-0.5' : 'gap-2')}>
                {entries.map((entry) => (
                  <Shown key={entry.routineId} entry={entry} projectId={projectId} />
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

function neighbour(grid: HTMLElement, day: Element, step: 1 | -1, index: number): HTMLElement | undefined {
  const days = [...grid.querySelectorAll('[data-day]')];
  for (let at = days.indexOf(day) + step; at >= 0 && at < days.length; at += step) {
    const stops = [...(days[at]?.querySelectorAll<HTMLElement>(STOPS) ?? [])];
    if (stops.length > 0) return stops[Math.min(index, stops.length - 1)];
  }
  return undefined;
}

/** Number of occurrences of one routine that a column shows. More are folded. */
const SHOWN = 3;

interface EntryBoxProps {
  readonly entry: Entry;
  readonly projectId: string;
}

/** Shows the runs of one routine on one day. */
function EntryBox({ entry, projectId }: EntryBoxProps) {
  const [isOpen, setOpen] = useState(false);
  const { routineId, routineName, moments } = entry;
  const isFolded = moments.length > SHOWN && !isOpen;
  return (
    <li className="min-w-0">
      <Link
        to="/p/$projectId/routines/$routineId"
        params={{ projectId, routineId }}
        title={routineName}
        className="ring-inside block truncate rounded-sm px-1 text-sm font-medium text-ink hover:underline"
      >
        {routineName}
      </Link>
      {isFolded ? (
        <button
          type="button"
          aria-expanded={false}
          onClick={() => setOpen(true)}
          className="ring-inside block w-full rounded-sm px-1 py-0.5 text-left text-xs text-muted hover:bg-hover pointer-coarse:py-2"
        >
          <span className="tabular">
            {count(countOf(moments))} times, {clock(new Date(moments[0]?.at ?? 0))} to{' '}
            {clock(new Date(moments.at(-1)?.at ?? 0))}
          </span>
          <Counts moments={moments} />
        </button>
      ) : (
        <ul>
          {moments.map((moment) => (
            <li key={moment.key}>
              <MomentLine moment={moment} projectId={projectId} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Shows in a line the runs of one routine on one day. The dot shows the state of the worst run. */
function EntryLine({ entry: { routineId, routineName, moments }, projectId }: EntryBoxProps) {
  const worst = WORST.find((tone) => moments.some(({ state }) => toneOf(state) === tone));
  const shown = moments.find(({ state }) => toneOf(state) === worst) ?? moments[0];
  if (shown === undefined) return null;
  const title = [...new Set(moments.map(({ state }) => labelOf(state)))].join(', ');
  return (
    <li className="min-w-0">
      <Link
        to="/p/$projectId/routines/$routineId"
        params={{ projectId, routineId }}
        search={{ tab: 'runs' }}
        title={`${routineName}: ${title}`}
        className="ring-inside flex gap-1.5 rounded-sm px-1 py-1 text-xs text-ink hover:bg-hover pointer-coarse:py-2.5"
      >
        <Mark state={shown.state} />
        <span className="truncate">{routineName}</span>
        {countOf(moments) > 1 && <span className="ml-auto text-faint tabular">×{count(countOf(moments))}</span>}
        <span className="sr-only">{title}</span>
      </Link>
    </li>
  );
}

const WORST = ['bad', 'warn', 'busy', 'news', 'good'] as const;

/** Counts the runs of a folded day by how they ended, and shows skipped runs with their reason. */
function Counts({ moments }: { moments: readonly Moment[] }) {
  const groups = [...Map.groupBy(moments, ({ state, reason }) => `${state} ${reason ?? ''}`)];
  return (
    <span className="mt-0.5 flex flex-col gap-0.5">
      {groups.map(([key, own]) => {
        const [first] = own;
        if (first === undefined) return null;
        return (
          <span key={key} className="flex items-baseline gap-1.5">
            <Mark state={first.state} />
            <span>
              {count(countOf(own))} {labelOf(first.state).toLowerCase()}
              {first.reason !== null && <span className="line-clamp-2 text-faint">{first.reason}</span>}
            </span>
          </span>
        );
      })}
    </span>
  );
}

function countOf(moments: readonly Moment[]): number {
  return moments.reduce((sum, { count: each }) => sum + each, 0);
}

function MomentLine({ moment, projectId }: { moment: Moment; projectId: string }) {
  const { at, state, runId, reason, said } = moment;
  const label = labelOf(state);
  const line = (
    <>
      <Mark state={state} />
      <span className="min-w-0">
        <span className="tabular">{clock(new Date(at))}</span> {label.toLowerCase()}
        {moment.count > 1 && ` ×${count(moment.count)}`}
        {reason !== null && <span className="line-clamp-2 text-faint">{reason}</span>}
        {said !== null && <span className="line-clamp-3 text-ink wrap-anywhere">{drawn(said)}</span>}
      </span>
    </>
  );
  const title = `${label}, ${exactTime(new Date(at))}`;
  const look = 'flex items-baseline gap-1.5 rounded-sm px-1 py-0.5 text-xs text-muted';
  return runId === null ? (
    <span className={look} title={title}>
      {line}
    </span>
  ) : (
    <Link
      to="/p/$projectId/runs/$runId"
      params={{ projectId, runId }}
      title={title}
      className={`ring-inside ${look} hover:bg-hover hover:text-ink pointer-coarse:py-2`}
    >
      {line}
    </Link>
  );
}

export function labelOf(state: string): string {
  return state === 'due' ? 'Due' : describeState(state).label;
}

/** Shows a ring for a coming occurrence or a dot for a past one, on the first line of its text. */
export function Mark({ state }: { state: string }) {
  return (
    <span aria-hidden className="flex h-4 shrink-0 items-center self-start">
      {state === 'due' ? (
        <span className="size-1.5 rounded-full border border-faint" />
      ) : (
        <Dot tone={describeState(state).tone} />
      )}
    </span>
  );
}
