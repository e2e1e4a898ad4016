import { useEffect, useState } from 'react';
import { call } from '#ui/api/call.ts';
import { follow, type FollowStatus } from '#ui/api/follow.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';

type Step = Shape<'Step'>;

export interface FollowedRun {
  readonly run: Shape<'Run'> | undefined;
  readonly steps: readonly Step[];
  readonly status: FollowStatus;
}

const ENDED = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);
const NOTHING: FollowedRun = { run: undefined, steps: [], status: 'connecting' };

/** Follows a run while it goes on. */
export function useFollowRun(runId: string | undefined, onEnd: () => void): FollowedRun {
  const projectId = useProjectId();
  const [followed, setFollowed] = useState<FollowedRun & { of?: string }>(NOTHING);
  useEffect(() => {
    if (runId === undefined) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    const change = (over: (now: FollowedRun) => Partial<FollowedRun>) =>
      setFollowed((now) => {
        const mine = now.of === runId ? now : NOTHING;
        return { ...mine, ...over(mine), of: runId };
      });
    void follow({
      path: `/v1/runs/${runId}/events`,
      projectId,
      signal,
      onStatus: (status) => {
        change(() => ({ status }));
        if (status === 'ended') onEnd();
      },
      onEvent: ({ event, data }) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- events of this name carry a run
        if (event === 'state') change(() => ({ run: data as Shape<'Run'> }));
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- events of this name carry a step
        if (event === 'step') change(({ steps }) => ({ steps: withStep(steps, data as Step) }));
      },
      poll: async () => {
        const { data } = await call(
          'get',
          '/v1/runs/{runId}',
          { path: { runId } },
          { projectId, signal },
        );
        change(() => ({ run: data, steps: data.steps }));
        return ENDED.has(data.state);
      },
    });
    return () => stop.abort();
    // oxlint-disable-next-line react/exhaustive-deps -- a new callback is no reason to connect anew
  }, [runId, projectId]);
  return followed.of === runId ? followed : NOTHING;
}

export function hasEnded(state: string): boolean {
  return ENDED.has(state);
}

function withStep(steps: readonly Step[], step: Step): readonly Step[] {
  return [...steps.filter(({ index }) => index !== step.index), step].toSorted(
    (a, b) => a.index - b.index,
  );
}
