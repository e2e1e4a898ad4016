import { useEffect, useEffectEvent } from 'react';
import { isOver } from '#ui/format/run-words.ts';
import { call } from './call.ts';
import { follow, type FollowedEvent, type FollowStatus } from './follow.ts';
import { useProjectId } from './project.ts';
import type { Shape } from './types.ts';

/** The text of the running model step since the last event. */
export type TextPiece = Extract<Shape<'RunEvent'>, { event: 'text' }>['data'];

/** The text of a running model step so far. */
export interface LiveText {
  readonly index: number;
  readonly text: string;
}

export function withPiece(live: LiveText | undefined, { index, begins, text }: TextPiece): LiveText {
  const before = begins || live?.index !== index ? '' : live.text;
  return { index, text: before + text };
}

export interface RunListener {
  readonly onStatus: (status: FollowStatus) => void;
  readonly onState: (run: Shape<'Run'>) => void;
  readonly onStep: (step: Shape<'Step'>) => void;
  readonly onText: (piece: TextPiece) => void;
  /** Called with the whole run while streams are blocked. */
  readonly onRead: (run: Shape<'RunDetail'>) => void;
}

/** Follows the events of a run until it is over; without an id it follows nothing. */
export function useRunEvents(runId: string | undefined, listener: RunListener): void {
  const projectId = useProjectId();
  const onStatus = useEffectEvent((status: FollowStatus) => listener.onStatus(status));
  const onEvent = useEffectEvent(({ event, data }: FollowedEvent) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- events of this name carry a run
    if (event === 'state') listener.onState(data as Shape<'Run'>);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- events of this name carry a step
    if (event === 'step') listener.onStep(data as Shape<'Step'>);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- events of this name carry a piece of text
    if (event === 'text') listener.onText(data as TextPiece);
  });
  const onRead = useEffectEvent((run: Shape<'RunDetail'>) => listener.onRead(run));
  useEffect(() => {
    if (runId === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    void follow({
      path: `/v1/runs/${runId}/events`,
      projectId,
      signal,
      onEvent: (event) => onEvent(event),
      onStatus: (status) => onStatus(status),
      poll: async () => {
        const { data } = await call('get', '/v1/runs/{runId}', { path: { runId } }, { projectId, signal });
        onRead(data);
        return isOver(data);
      },
    });
    return () => controller.abort();
  }, [runId, projectId]);
}
