import { useQuery } from '@tanstack/react-query';
import { call } from '#ui/api/call.ts';
import { keyOf, useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { nextOf, previousOf, type ListRuns } from '#ui/format/neighbours.ts';

const PATH = '/v1/routines/{routineId}/runs';

export interface Neighbours {
  readonly previous: Shape<'RunSummary'> | undefined;
  readonly next: Shape<'RunSummary'> | undefined;
  readonly isPending: boolean;
}

/** Finds the results of the same routine before and after a run; they are those of runs that succeeded. */
export function useNeighbours(run: Shape<'RunDetail'> | undefined): Neighbours {
  const projectId = useProjectId();
  const { data, isPending } = useQuery({
    queryKey: keyOf(projectId, PATH, { beside: run?.id }),
    enabled: run !== undefined,
    queryFn: async ({ signal }) => {
      if (run === undefined) return {};
      const path = { routineId: run.routineId };
      const list: ListRuns<Shape<'RunSummary'>> = async (since, until, limit) => {
        const query = {
          state: 'succeeded' as const,
          limit,
          ...(since === undefined ? {} : { since }),
          ...(until === undefined ? {} : { until }),
        };
        return (await call('get', PATH, { path, query }, { projectId, signal })).data;
      };
      const [previous, next] = await Promise.all([previousOf(run, list), nextOf(run, list)]);
      return { previous, next };
    },
  });
  return { previous: data?.previous, next: data?.next, isPending };
}
