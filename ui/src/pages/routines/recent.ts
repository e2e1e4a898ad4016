import { useEffect, useMemo } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import type { DataOf, ItemOf, Shape } from '#ui/api/types.ts';

export type RecentRuns = ItemOf<'/v1/runs/recent'>;

/** One row of the list: a routine with its recent runs. */
export interface Row {
  readonly routine: Shape<'RoutineSummary'>;
  /** Undefined until it has been read. */
  readonly recent: RecentRuns | undefined;
  /** US dollars over the last 30 days; null when unknown, undefined until it has been read. */
  readonly spend: string | null | undefined;
}

const EVERY_MS = 10_000;

/** Reads the routines in a state, by default all but the archived, each with its last runs and its spending. */
export function useRoutines(state: Shape<'RoutineSummary'>['state'] | undefined) {
  const routines = useList(
    '/v1/routines',
    { query: { limit: 200, ...(state === undefined ? {} : { state }) } },
    { everyMs: EVERY_MS, keepPrevious: true },
  );
  const recent = useList(
    '/v1/runs/recent',
    { query: { limit: 200, perRoutine: 10 } },
    { everyMs: EVERY_MS },
  );
  const { hasMore, isLoadingMore, loadMore } = recent;
  // In the order of the routines, but of all states, so that it may be pages behind them.
  const isBehind = hasMore && isOlder(routines.data?.at(-1)?.id, recent.data?.at(-1)?.routineId);
  // After an error the next refresh tries again, and not at once.
  const readsOn = isBehind && !isLoadingMore && recent.error === null;
  useEffect(() => {
    if (readsOn) loadMore();
  }, [readsOn, loadMore]);
  const usage = useRead('/v1/usage', { query: { groupBy: 'routine' } }, { everyMs: 60_000 });
  // Rows stay the same while what they show does, so that a long list is not drawn anew at every key of its search.
  const rows = useMemo(
    () =>
      rowsOf({ routines: routines.data, recent: recent.data, usage: usage.data }).filter(
        ({ routine }) => state !== undefined || routine.state !== 'archived',
      ),
    [routines.data, recent.data, usage.data, state],
  );
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
