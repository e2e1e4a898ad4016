import { useState } from 'react';
import type { FollowStatus } from '#ui/api/follow.ts';
import { useRunEvents } from '#ui/api/run-events.ts';
import type { Shape } from '#ui/api/types.ts';

type Step = Shape<'Step'>;

export interface FollowedRun {
  readonly run: Shape<'Run'> | undefined;
  readonly steps: readonly Step[];
  readonly status: FollowStatus;
}

const NOTHING: FollowedRun = { run: undefined, steps: [], status: 'connecting' };

/** Follows a test run until it is over; it knows nothing but what the events tell. */
export function useTestRunEvents(runId: string | undefined, onEnd: () => void): FollowedRun {
  const [followed, setFollowed] = useState<FollowedRun & { of?: string | undefined }>(NOTHING);
  const change = (over: (now: FollowedRun) => Partial<FollowedRun>) =>
    setFollowed((now) => {
      const mine = now.of === runId ? now : NOTHING;
      return { ...mine, ...over(mine), of: runId };
    });
  useRunEvents(runId, {
    onStatus: (status) => {
      change(() => ({ status }));
      if (status === 'ended') onEnd();
    },
    onState: (run) => change(() => ({ run })),
    onStep: (step) => change(({ steps }) => ({ steps: withStep(steps, step) })),
    onRead: (run) => change(() => ({ run, steps: run.steps })),
  });
  return followed.of === runId ? followed : NOTHING;
}

function withStep(steps: readonly Step[], step: Step): readonly Step[] {
  return [...steps.filter(({ index }) => index !== step.index), step].toSorted(
    (a, b) => a.index - b.index,
  );
}
