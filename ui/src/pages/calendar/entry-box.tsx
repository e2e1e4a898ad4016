import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { count } from '#ui/format/numbers.ts';
import { clock, exactTime } from '#ui/format/times.ts';
import { describeState, Dot } from '#ui/parts/state.tsx';
import type { Entry, Moment } from './entries.ts';

/** Moments of one routine that stand one below the other; more are folded. */
const SHOWN = 3;

export interface EntryBoxProps {
  readonly entry: Entry;
  readonly projectId: string;
}

/** Shows what one routine does on one day. */
export function EntryBox({ entry, projectId }: EntryBoxProps) {
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

/** Counts the runs of a folded day by how they ended; skipped ones are shown with their reason. */
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
              {first.reason !== null && (
                <span className="line-clamp-2 text-faint">{first.reason}</span>
              )}
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
  const { at, state, runId, reason } = moment;
  const label = labelOf(state);
  const line = (
    <>
      <Mark state={state} />
      <span className="min-w-0">
        <span className="tabular">{clock(new Date(at))}</span> {label.toLowerCase()}
        {moment.count > 1 && ` ×${count(moment.count)}`}
        {reason !== null && <span className="line-clamp-2 text-faint">{reason}</span>}
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

function labelOf(state: string): string {
  return state === 'due' ? 'Due' : describeState(state).label;
}

/** A ring for what is to come, a dot for what was; on the first line of its text. */
function Mark({ state }: { state: string }) {
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
