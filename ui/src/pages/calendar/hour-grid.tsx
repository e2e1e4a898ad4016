import { Link } from '@tanstack/react-router';
import { LOCALE } from '#ui/format/locale.ts';
import { clock, exactTime } from '#ui/format/times.ts';
import { labelOf, Mark } from './day-grid.tsx';
import type { Day, Entry, Moment } from './entries.ts';

export interface HourGridProps {
  readonly days: readonly Day[];
  readonly projectId: string;
}

/** Shows the hours in which something ran or is due, by day. Narrow windows scroll sideways. */
export function HourGrid({ days, projectId }: HourGridProps) {
  const hours = [...new Set(days.flatMap(({ entries }) => entries.flatMap(momentsOf)).map(hourOf))].toSorted(
    (a, b) => a - b,
  );
  if (hours.length === 0) return null;
  return (
    <div
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
      tabIndex={0}
      role="region"
      aria-label="Hours"
      className="ring-inside overflow-x-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full min-w-3xl table-fixed border-collapse text-xs">
        <thead>
          <tr className="border-b border-line">
            <th scope="col" className="w-14">
              <span className="sr-only">Hour</span>
            </th>
            {days.map(({ start }) => (
              <th key={start.getTime()} scope="col" className="px-2 py-2 text-left font-medium text-muted">
                {dayHead.format(start)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {hours.map((hour) => (
            <tr key={hour} className="border-b border-line align-top last:border-b-0">
              <th scope="row" className="px-2 py-2 text-right font-normal text-faint tabular">
                {clock(new Date(2026, 0, 1, hour))}
              </th>
              {days.map(({ start, entries }) => (
                <td key={start.getTime()} className="border-l border-line px-1 py-1">
                  <ul>
                    {entries.map((entry) => (
                      <Moments key={entry.routineId} entry={entry} hour={hour} projectId={projectId} />
                    ))}
                  </ul>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const dayHead = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric', month: 'short' });

function momentsOf({ moments }: Entry): readonly Moment[] {
  return moments;
}

function hourOf({ at }: Moment): number {
  return new Date(at).getHours();
}

interface MomentsProps {
  readonly entry: Entry;
  readonly hour: number;
  readonly projectId: string;
}

/** Shows in one line the runs of a routine in an hour, with the state of the last one. */
function Moments({ entry: { routineId, routineName, moments }, hour, projectId }: MomentsProps) {
  const own = moments.filter((moment) => hourOf(moment) === hour);
  const last = own.at(-1);
  if (last === undefined) return null;
  const title = `${routineName}: ${own.map(({ at, state }) => `${exactTime(new Date(at))} ${labelOf(state).toLowerCase()}`).join(', ')}`;
  const look = 'flex gap-1.5 rounded-sm px-1 py-1 pointer-coarse:py-2.5';
  const line = (
    <>
      <Mark state={last.state} />
      <span className="truncate text-ink">{routineName}</span>
      {own.length > 1 && <span className="ml-auto text-faint tabular">×{own.length}</span>}
    </>
  );
  return (
    <li title={title}>
      {last.runId === null ? (
        <Link
          to="/p/$projectId/routines/$routineId"
          params={{ projectId, routineId }}
          className={`ring-inside ${look} hover:bg-hover`}
        >
          {line}
        </Link>
      ) : (
        <Link
          to="/p/$projectId/runs/$runId"
          params={{ projectId, runId: last.runId }}
          className={`ring-inside ${look} hover:bg-hover`}
        >
          {line}
        </Link>
      )}
    </li>
  );
}
