import { useEffect, useEffectEvent, useReducer, useState } from 'react';
import { call } from '#ui/api/call.ts';
import { follow, type FollowedEvent, type FollowStatus } from '#ui/api/follow.ts';
import { useRead, type Loaded } from '#ui/api/hooks.ts';
import { useProjectId } from '#ui/api/project.ts';
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

/** Reads a run, follows its events until it is over, and then what becomes of its deliveries. */
export function useFollowedRun(runId: string): FollowedRun {
  const projectId = useProjectId();
  const [everyMs, setEveryMs] = useState<number | false>(false);
  const [seen, dispatch] = useReducer(see, NOTHING_SEEN);
  const [status, setStatus] = useState<FollowStatus>();
  const read = useRead('/v1/runs/{runId}', { path: { runId } }, { everyMs });
  const run = read.data === undefined ? undefined : merge(read.data, seen);
  const wanted = run === undefined ? false : intervalOf(run);
  if (wanted !== everyMs) setEveryMs(wanted);

  const onEvent = useEffectEvent(({ event, data }: FollowedEvent) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the events are those of the document that the types come from
    if (event === 'step') dispatch({ kind: 'step', step: data as Shape<'Step'> });
    if (event !== 'state') return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
    const next = data as Shape<'Run'>;
    dispatch({ kind: 'state', run: next });
    // Deliveries, waiting time and links are in the detail only.
    if (isOver(next)) read.refetch();
  });
  const onStatus = useEffectEvent((next: FollowStatus) => {
    setStatus(next);
    if (next === 'ended') read.refetch();
  });

  const isOpen = run !== undefined && !isOver(run);
  useEffect(() => {
    if (!isOpen) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    void follow({
      path: `/v1/runs/${runId}/events`,
      projectId,
      signal,
      onEvent: (event) => onEvent(event),
      onStatus: (next) => onStatus(next),
      poll: async () => {
        const { data } = await call(
          'get',
          '/v1/runs/{runId}',
          { path: { runId } },
          { projectId, signal },
        );
        dispatch({ kind: 'read', run: data });
        return isOver(data);
      },
    });
    return () => controller.abort();
  }, [isOpen, runId, projectId]);

  return { run: { ...read, data: run }, status: isOpen ? status : undefined };
}

/** Interval at which to read again what the events do not tell. */
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
