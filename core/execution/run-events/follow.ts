import { persistently, type Db } from '#lib/database/index.ts';
import { readRun, type Run, type RunDetail } from '#core/execution/runs/index.ts';
import { isEndState, RUN_STATES } from '#core/execution/run-states/index.ts';
import type { Follower, RunFeed, RunWatch } from './feed.ts';
import type { TextPiece } from './snapshot.ts';
import type { RunCursor } from './watches.ts';

export interface StreamRequest {
  /** Follower of the run. Open streams are counted per API key or session, and per organization. */
  readonly follower: Omit<Follower, 'wantsText'>;
  readonly lastEventId: string;
  /** Ends the stream. If the reason is a `StreamEnd`, the follower gets it. */
  readonly signal: AbortSignal;
}

/**
 * Opens the events of a run that follow the event named by `lastEventId`, until `signal` aborts.
 * @returns undefined when no event follows it
 * @throws {AppError} `run_not_found`, `rate_limited`, `service_unavailable`
 */
export async function openRunEvents(
  { database, runFeed }: { readonly database: Db; readonly runFeed: RunFeed },
  run: { readonly projectId: string; readonly id: string },
  { follower, lastEventId, signal }: StreamRequest,
): Promise<AsyncIterable<RunEvent> | undefined> {
  const after = readEventId(lastEventId);
  const { state } = await readRun(database, run.projectId, run.id);
  if (after.state === state && isEndState(state)) return undefined;
  return followRun(await runFeed.follow(run, { ...follower, wantsText: true }, signal), after, signal);
}

/**
 * Waits until a run has ended, `signal` aborts, or this process stops. Meanwhile the wait counts as an open stream.
 * @throws {AppError} `run_not_found`, `rate_limited`, `service_unavailable`
 */
export async function waitForRunEnd(
  { database, runFeed }: { readonly database: Db; readonly runFeed: RunFeed },
  run: { readonly projectId: string; readonly id: string },
  { follower, signal }: Pick<StreamRequest, 'follower' | 'signal'>,
): Promise<void> {
  let { state } = await readRun(database, run.projectId, run.id);
  if (isEndState(state)) return;
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const watch = await runFeed.follow(run, { ...follower, wantsText: false }, either);
  try {
    while (await watch.changed({ ...AFTER_STEPS, state })) {
      const read = () => watch.read({ ...AFTER_STEPS, state });
      const found = await persistently(read, either).catch(unlessOver(either));
      if (found === undefined || isEndState(found.run.state)) return;
      state = found.run.state;
    }
  } finally {
    done.abort();
  }
}

/** The position before the text of a step. */
const NO_TEXT = { attempt: 0, piece: 0 };

/** A position after every step, for a follower that waits for no steps. */
const AFTER_STEPS = { steps: 2_147_483_647, text: NO_TEXT };

export type RunEvent =
  | { readonly event: 'state'; readonly id: string; readonly data: Run }
  | { readonly event: 'step'; readonly id: string; readonly data: RunDetail['steps'][number] }
  /** This event has no id: a follower that reconnects gets the text from its beginning. */
  | { readonly event: 'text'; readonly data: Omit<TextPiece, 'piece'> }
  | StreamEndEvent;

/**
 * Reports why the stream ends before its run. The event has no id, so a follower that reconnects continues after the
 * previous event.
 */
export interface StreamEndEvent {
  readonly event: 'end';
  /** Milliseconds after which a follower should reconnect. */
  readonly retryMs: number;
  readonly data: { readonly reason: StreamEnd; readonly message: string };
}

/**
 * Yields the events of a run from `after` on: each observed state, each step in order once it is finished, the text of
 * the running step, and the final state. The events are read from the tables, so a follower that reconnects misses
 * none.
 */
async function* followRun(watch: RunWatch, after: RunCursor, signal: AbortSignal): AsyncGenerator<RunEvent> {
  let sent = after;
  let more = false;
  while (more || (await watch.changed(sent))) {
    const from = sent;
    const found = await persistently(() => watch.read(from), signal).catch(unlessOver(signal));
    if (found === undefined) break;
    const { run, steps, pieces } = found;
    const ended = isEndState(run.state);
    if (!ended && run.state !== sent.state) {
      sent = { ...sent, state: run.state };
      yield { event: 'state', id: eventId(sent), data: run };
    }
    const finished = ended ? steps : upToUnfinished(steps);
    for (const step of finished) {
      sent = { ...sent, steps: step.index + 1, text: NO_TEXT };
      yield { event: 'step', id: eventId(sent), data: step };
    }
    // A finished step has its whole text, so no pieces of it are sent.
    const said = finished.length > 0 || ended ? [] : pieces;
    for (const { piece, ...data } of said) {
      sent = { ...sent, text: { attempt: data.attempt, piece } };
      yield { event: 'text', data };
    }
    const isAllTold = steps.length > 0 && finished.length === steps.length;
    more = found.more && (said.length > 0 || isAllTold);
    if (!ended || more) continue;
    sent = { ...sent, state: run.state };
    yield { event: 'state', id: eventId(sent), data: run };
    return;
  }
  const reason = watch.isClosed() ? 'server_stopping' : STREAM_END_NAMES.find((name) => name === signal.reason);
  if (reason === undefined) return;
  // Vary the delays, so that the followers of a stopping process do not all reconnect at once.
  const retryMs = 1_000 + Math.floor(Math.random() * 4_000);
  yield { event: 'end', retryMs, data: { reason, message: STREAM_ENDS[reason] } };
}

function unlessOver(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (!signal.aborted) throw error;
    return undefined;
  };
}

/**
 * Returns the steps before the first unfinished one: events keep the order of the steps, even where calls end out of
 * order.
 */
function upToUnfinished(steps: RunDetail['steps']): RunDetail['steps'] {
  const first = steps.findIndex(({ state }) => state === 'pending' || state === 'started');
  return first === -1 ? steps : steps.slice(0, first);
}

function eventId({ steps, state }: RunCursor): string {
  return `${steps}.${state ?? 'unknown'}`;
}

function readEventId(id: string): RunCursor {
  const [, steps, name] = /^(\d{1,6})\.([a-z]+)$/.exec(id) ?? [];
  return { steps: Number(steps ?? 0), state: RUN_STATES.find((state) => state === name), text: NO_TEXT };
}

/** Reasons for ending a stream before its run, each with the message to the follower. */
const STREAM_ENDS = {
  access_ended: 'The credential of this stream may no longer read the run.',
  server_stopping: 'The server stops. Send Last-Event-ID to continue.',
  time_limit: 'The stream was open for the longest time allowed. Send Last-Event-ID to continue.',
} as const;

export type StreamEnd = keyof typeof STREAM_ENDS;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
export const STREAM_END_NAMES = Object.keys(STREAM_ENDS) as [StreamEnd, ...StreamEnd[]];
