import { useReducer, useState } from 'react';
import type { FollowStatus } from '#ui/api/follow.ts';
import { useRead, type Loaded } from '#ui/api/read.ts';
import { useRunEvents } from '#ui/api/run-events.ts';
import type { Shape } from '#ui/api/types.ts';
import { isOver } from '#ui/format/run-words.ts';
import { merge, NOTHING_SEEN, see } from './merge.ts';

type RunDetail = Shape<'RunDetail'>;

export interface FollowedRun {
  readonly run: Loaded<RunDetail>;
  /** State of the event stream; undefined while the run is not followed. */
  readonly status: FollowStatus | undefined;
}

const QUEUED_MS = 5_000;
const DELIVERING_MS = 2_000;

/** Reads a run, follows its events until it is over, and then its deliveries. */
export function useFollowedRun(runId: string): FollowedRun {
  const [everyMs, setEveryMs] = useState<number | false>(false);
  const [seen, dispatch] = useReducer(see, NOTHING_SEEN);
  const [status, setStatus] = useState<FollowStatus>();
  const read = useRead('/v1/runs/{runId}', { path: { runId } }, { everyMs });
  const run = read.data === undefined ? undefined : merge(read.data, seen);
  const wanted = run === undefined ? false : intervalOf(run);
  if (wanted !== everyMs) setEveryMs(wanted);

  const isOpen = run !== undefined && !isOver(run);
  useRunEvents(isOpen ? runId : undefined, {
    onStatus: (next) => {
      setStatus(next);
      if (next === 'ended') read.refetch();
    },
    onState: (next) => {
      dispatch({ kind: 'state', run: next });
      // Deliveries, waiting time and links are in the detail only, and settled once it has begun or ended.
      if (next.state !== 'queued') read.refetch();
    },
    onStep: (step) => dispatch({ kind: 'step', step }),
    onRead: (next) => dispatch({ kind: 'read', run: next }),
  });

  return { run: { ...read, data: run }, status: isOpen ? status : undefined };
}

/** Returns the interval for reading what the events do not carry. */
function intervalOf(run: RunDetail): number | false {
  if (run.state === 'queued') return QUEUED_MS;
  const soon = Date.now() + 60_000;
  const isDelivering = run.webhookDeliveries.some(
    ({ state, nextAttemptAt }) =>
      state === 'sending' ||
      (state === 'pending' && (nextAttemptAt === null || Date.parse(nextAttemptAt) < soon)),
  );
  return isDelivering ? DELIVERING_MS : false;
}
