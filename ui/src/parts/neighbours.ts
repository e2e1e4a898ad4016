import { useQuery } from '@tanstack/react-query';
import { call } from '#ui/api/call.ts';
import { keyOf, useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { nearerOf, nextOf, previousOf, type ListRuns } from '#ui/format/neighbours.ts';

const PATH = '/v1/routines/{routineId}/runs';

export interface Neighbours {
  readonly previous: Shape<'RunSummary'> | undefined;
  readonly next: Shape<'RunSummary'> | undefined;
  readonly isPending: boolean;
}

/**
 * Finds the results of the same routine before and after a run: those of runs that succeeded, also in part, and where they are
 * wanted of runs that failed and have one all the same.
 */
export function useNeighbours(
  run: Shape<'RunDetail'> | undefined,
  { withFailed = false }: { readonly withFailed?: boolean } = {},
): Neighbours {
  const projectId = useProjectId();
  const { data, isPending } = useQuery({
    queryKey: keyOf(projectId, PATH, { beside: run?.id, withFailed }),
    enabled: run !== undefined,
    queryFn: async ({ signal }) => {
      if (run === undefined) return {};
      const path = { routineId: run.routineId };
      const listOf =
        (state: 'succeeded' | 'failed'): ListRuns<Shape<'RunSummary'>> =>
        async (since, until, limit) => {
          const query = {
            state,
            limit,
            ...(since === undefined ? {} : { since }),
            ...(until === undefined ? {} : { until }),
          };
          const { data } = await call('get', PATH, { path, query }, { projectId, signal });
          return state === 'failed' ? data.filter(hasResult) : data;
        };
      const list = listOf('succeeded');
      const [previous, next] = await Promise.all([previousOf(run, list), nextOf(run, list)]);
      if (!withFailed) return { previous, next };
      const failed = listOf('failed');
      const [before, after] = await Promise.all([
        nearerOf(run, { side: 'before', than: previous }, failed),
        nearerOf(run, { side: 'after', than: next }, failed),
      ]);
      return { previous: before, next: after };
    },
  });
  return { previous: data?.previous, next: data?.next, isPending };
}

function hasResult({ resultPreview }: Shape<'RunSummary'>): boolean {
  return resultPreview !== null;
}
