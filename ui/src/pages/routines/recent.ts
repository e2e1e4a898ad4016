import { useMemo } from 'react';
import { useList, useRead, useReadOn } from '#ui/api/read.ts';
import type { DataOf, InputOf, ItemOf, Shape } from '#ui/api/types.ts';

export type RecentRuns = ItemOf<'/v1/runs/recent'>;

/** One row of the list: a routine with its recent runs. */
export interface Row {
  readonly routine: Shape<'RoutineSummary'>;
  /** Undefined until the recent runs have been read. */
  readonly recent: RecentRuns | undefined;
  /** US dollars over the last 30 days; null when unknown, undefined until the spending has been read. */
  readonly spend: string | null | undefined;
}

const EVERY_MS = 10_000;

/**
 * Reads the shown routines, by default all that are not archived, each with its last runs and its spending. Reads
 * further pages while the pages read so far have no routine to show.
 */
export function useRoutines(shown: Shown | undefined, q: string) {
  const routines = useList(
    '/v1/routines',
    { query: { limit: 200, ...queryOf(shown), ...(q === '' ? {} : { q }) } },
    { everyMs: EVERY_MS, keepPrevious: true },
  );
  const recent = useList('/v1/runs/recent', { query: { limit: 200, perRoutine: 10 } }, { everyMs: EVERY_MS });
  // Read on: recent runs come in the same order but for routines of all states, so they may be pages behind.
  useReadOn(recent, isOlder(routines.data?.at(-1)?.id, recent.data?.at(-1)?.routineId));
  const usage = useRead('/v1/usage', { query: { groupBy: 'routine' } }, { everyMs: 60_000 });
  // Rows keep their identity while their content is the same, so that a key in the search does not redraw a long list.
  const rows = useMemo(
    () =>
      rowsOf({ routines: routines.data, recent: recent.data, usage: usage.data }).filter(
        ({ routine }) => shown !== undefined || routine.state !== 'archived',
      ),
    [routines.data, recent.data, usage.data, shown],
  );
  useReadOn(routines, rows.length === 0);
  return { routines, recent, rows: routines.data === undefined ? undefined : rows };
}

interface Known {
  readonly routines: readonly Shape<'RoutineSummary'>[] | undefined;
  readonly recent: readonly RecentRuns[] | undefined;
  readonly usage: DataOf<'/v1/usage', 'get'> | undefined;
}

function rowsOf({ routines = [], recent, usage }: Known): readonly Row[] {
  const runsOf = new Map(recent?.map((each) => [each.routineId, each]));
  const spent = new Map(usage?.groups.map(({ key, costUsd }) => [key, costUsd]));
  return routines.map((routine) => ({
    routine,
    recent: runsOf.get(routine.id),
    spend: usage === undefined ? undefined : spent.has(routine.id) ? spent.get(routine.id) : '0',
  }));
}

/** Compares ids by the time at which they were made. */
function isOlder(id: string | undefined, other: string | undefined): boolean {
  return id !== undefined && other !== undefined && id < other;
}

/** Names the filter: the routines in one state, or those that the service has stopped. */
export type Shown = Shape<'RoutineSummary'>['state'] | 'stopped';

export const SHOWN = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'stopped', label: 'Stopped by the service' },
  { value: 'draft', label: 'Drafts' },
  { value: 'archived', label: 'Archived' },
] as const satisfies readonly { value: Shown; label: string }[];

/** Reads the filter from the address; undefined if it names none. */
export function shownOf(asked: string | undefined): Shown | undefined {
  return SHOWN.find(({ value }) => value === asked)?.value;
}

/** Returns the filter as the API takes it. */
function queryOf(shown: Shown | undefined): InputOf<'/v1/routines', 'get'>['query'] {
  if (shown === undefined) return {};
  return shown === 'stopped' ? { stateChangedBy: 'service' } : { state: shown };
}
