import { useList, useRead } from '#ui/api/hooks.ts';
import type { ItemOf, Shape } from '#ui/api/types.ts';

export type RecentRuns = ItemOf<'/v1/runs/recent'>;

/** One row of the list: a routine with its recent runs. */
export interface Row {
  readonly routine: Shape<'RoutineSummary'>;
  /** Undefined while it is not known. */
  readonly recent: RecentRuns | undefined;
  /** US dollars over the last 30 days; null is unknown, undefined not read yet. */
  readonly spend: string | null | undefined;
}

const EVERY_MS = 10_000;

/** The routines in this state, all of them but the archived by default, each with its last runs and what it spent. */
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
  const usage = useRead('/v1/usage', { query: { groupBy: 'routine' } }, { everyMs: 60_000 });
  const runsOf = new Map(recent.data?.map((each) => [each.routineId, each]));
  const spent = new Map(usage.data?.groups.map(({ key, costUsd }) => [key, costUsd]));
  const rows = routines.data
    ?.filter((routine) => state !== undefined || routine.state !== 'archived')
    .map((routine): Row => ({
      routine,
      recent: runsOf.get(routine.id),
      spend:
        usage.data === undefined ? undefined : spent.has(routine.id) ? spent.get(routine.id) : '0',
    }));
  return { routines, recent, rows };
}
