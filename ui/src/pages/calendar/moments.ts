import { useList, useRead, useReadOn, type Loaded } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { addDays } from '#ui/format/days.ts';
import { useNow } from '#ui/format/now.ts';

interface Moments {
  readonly runs: readonly Shape<'RunSummary'>[];
  readonly occurrences: readonly Shape<'ScheduledOccurrence'>[];
  /** True when there are more runs or times than are shown. */
  readonly isCut: boolean;
}

const REFRESH_MS = 30_000;
const MINUTE_MS = 60_000;
const PAGE = 200;
const MOST = 1_000;

/** Reads the past runs of some days, and the coming times of the schedule in these days. */
export function useMoments(start: Date, days: number): Loaded<Moments> {
  const now = useNow(MINUTE_MS).getTime();
  const end = addDays(start, days).getTime();
  const hasBegun = start.getTime() <= now;
  const runs = useList(
    '/v1/runs',
    {
      query: {
        since: start.toISOString(),
        until: new Date(end).toISOString(),
        limit: PAGE,
      },
    },
    { everyMs: hasBegun ? REFRESH_MS : false, enabled: hasBegun },
  );
  // Begin just before midnight, which belongs to the first day: the API returns only occurrences after `from`.
  const from = Math.max(Math.floor(now / MINUTE_MS) * MINUTE_MS, start.getTime() - 1);
  const isOver = end <= from;
  const due = useRead(
    '/v1/schedules/occurrences',
    { query: { from: new Date(from).toISOString(), to: new Date(end - 1).toISOString() } },
    { enabled: !isOver, keepPrevious: true },
  );
  const readsOn = runs.hasMore && (runs.data?.length ?? 0) < MOST;
  useReadOn(runs, readsOn);
  const isThere = (!hasBegun || (runs.data !== undefined && !readsOn)) && (isOver || due.data !== undefined);
  return {
    data: isThere
      ? {
          runs: (hasBegun ? runs.data : undefined) ?? [],
          occurrences: (isOver ? undefined : due.data?.occurrences) ?? [],
          isCut: runs.hasMore || (!isOver && due.data?.truncated === true),
        }
      : undefined,
    error: runs.error ?? due.error,
    isPending: !isThere,
    get isFetching() {
      return runs.isFetching || due.isFetching;
    },
    etag: undefined,
    refetch: () => {
      runs.refetch();
      due.refetch();
    },
  };
}
