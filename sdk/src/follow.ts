import { ConnectionError, RateLimitError, TimeoutError } from './errors.ts';
import { readEvents, type StreamedEvent } from './events.ts';
import { isTemporary, pause } from './retry.ts';
import type { Transport } from './transport.ts';
import type { Shape } from './types.ts';

/** A state that the run has entered. */
export interface RunStateEvent {
  readonly event: 'state';
  readonly data: Shape<'Run'>;
  /**
   * Id after which a later call can continue, as `lastEventId`. Undefined if streams are blocked and the run is read at
   * intervals.
   */
  readonly id: string | undefined;
}

/** A finished step. */
export interface RunStepEvent {
  readonly event: 'step';
  readonly data: Shape<'Step'>;
  readonly id: string | undefined;
}

/** The text of the running model step since the last event. The finished step has the whole text. */
export interface RunTextEvent {
  readonly event: 'text';
  readonly data: {
    readonly index: number;
    readonly attempt: number;
    /** True if this text replaces all earlier text of the step. */
    readonly begins: boolean;
    readonly text: string;
  };
  readonly id: undefined;
}

export type RunEvent = RunStateEvent | RunStepEvent;

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** The `id` of the last event seen; the stream continues after it. */
  readonly lastEventId?: string | undefined;
  /** True to yield text events too. */
  readonly text?: boolean | undefined;
}

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait for the end of the run before `TimeoutError`. By default there is no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Durations in milliseconds, except `wait`; `attempts` and `polls` are counts. */
export const TIMES = {
  /** Silence after which a stream is given up. The service sends at least a comment every 15 seconds. */
  silence: 40_000,
  retry: 1_000,
  poll: 3_000,
  /** Seconds for which the service may delay the response to a read until the run has ended. */
  wait: 0,
  /** Number of connections without an event after which the run is read at intervals. */
  attempts: 3,
  /** Number of reads after which a stream is tried again. */
  polls: 100,
  /** Time without any response before the follower gives up. */
  patience: 300_000,
};

const END_STATES: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);

interface Follower {
  readonly transport: Transport;
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
  readonly times: typeof TIMES;
  lastEventId: string | undefined;
  retryMs: number;
  waitSeconds: number;
}

/**
 * Yields the events of a run until it has ended. After a broken connection it continues with the next event. If streams
 * are blocked, it reads the run at intervals.
 */
export async function* followRun(
  transport: Transport,
  runId: string,
  { signal, lastEventId, text = false }: FollowOptions = {},
  times = TIMES,
): AsyncGenerator<RunEvent | RunTextEvent, void, undefined> {
  const { retry: retryMs, wait: waitSeconds } = times;
  const follower = { transport, runId, signal, times, lastEventId, retryMs, waitSeconds };
  const seen = new Seen();
  let failures = 0;
  let aliveAt = Date.now();
  for (;;) {
    const isPolling = failures >= times.attempts;
    let lost: unknown = new ConnectionError('The stream of events was cut.');
    failures = isPolling ? times.attempts - 1 : failures + 1;
    try {
      for await (const event of isPolling ? poll(follower) : stream(follower)) {
        if (!isPolling) failures = 0;
        aliveAt = Date.now();
        if (event === 'over') return;
        if (event === 'alive' || !seen.isNew(event) || (event.event === 'text' && !text)) continue;
        yield event;
        if (seen.isOver()) return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTemporary(error)) throw error;
      if (error instanceof RateLimitError) {
        // Read the run at intervals without waiting: all allowed streams are open, and a waiting read would count as
        // one more.
        failures = times.attempts;
        follower.waitSeconds = 0;
      }
      lost = error;
    }
    if (Date.now() - aliveAt > times.patience) throw lost;
    await pause(follower.retryMs * (0.5 + Math.random()), signal);
  }
}

/** Follows a run to its end and reads it. @throws {TimeoutError} */
export async function waitForEnd(
  transport: Transport,
  runId: string,
  { signal, timeoutMs }: WaitOptions = {},
): Promise<Shape<'RunDetail'>> {
  const signals = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
  const either = AbortSignal.any(signals.filter((each) => each !== undefined));
  try {
    let isOver = false;
    const events = followRun(transport, runId, { signal: either }, { ...TIMES, wait: 25 });
    while (!isOver) isOver = (await events.next()).done === true;
    return await transport.send('readRun', { ids: [runId], signal: either });
  } catch (error) {
    signal?.throwIfAborted();
    if (!either.aborted) throw error;
    throw new TimeoutError(`The run has not ended within ${timeoutMs} ms.`);
  }
}

/** Recognizes events that a new connection, or a read of the run, repeats. */
class Seen {
  #state: string | undefined;
  #steps = 0;

  isNew({ event, data }: RunEvent | RunTextEvent): boolean {
    if (event === 'state') {
      if (data.state === this.#state) return false;
      this.#state = data.state;
    } else {
      if (data.index < this.#steps) return false;
      if (event === 'text') return true;
      this.#steps = data.index + 1;
    }
    return true;
  }

  isOver(): boolean {
    return this.#state !== undefined && END_STATES.has(this.#state);
  }
}

type Sign = RunEvent | RunTextEvent | 'alive' | 'over';

/** Follows one stream until it ends or is cut. */
async function* stream(follower: Follower): AsyncGenerator<Sign, void, undefined> {
  const { transport, runId, signal, times, lastEventId } = follower;
  const silence = new AbortController();
  const signals = signal === undefined ? [silence.signal] : [signal, silence.signal];
  const spoken = <T>(answer: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => silence.abort(), times.silence);
    return answer.finally(() => clearTimeout(timer));
  };
  try {
    const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    const input = { ids: [runId], signal: AbortSignal.any(signals) };
    const response = await spoken(transport.open('followRun', input, headers));
    if (response.body === null || response.status === 204) return yield 'over';
    const reader = response.body.getReader();
    const read = () =>
      spoken(reader.read()).then(
        ({ value }) => value,
        () => undefined,
      );
    for await (const message of readEvents(read)) yield signOf(message, follower);
  } finally {
    silence.abort();
  }
}

function signOf({ event, id, data, retryMs }: StreamedEvent, follower: Follower): Sign {
  follower.retryMs = retryMs ?? follower.retryMs;
  if ((event !== 'state' && event !== 'step' && event !== 'text') || data === undefined) return 'alive';
  follower.lastEventId = id ?? follower.lastEventId;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service checks its events against the document that the types come from
  return { event, id, data: follower.transport.parse(data) } as RunEvent | RunTextEvent;
}

/** Reads the run at intervals, as events. */
async function* poll({ transport, runId, signal, times, waitSeconds }: Follower) {
  let readAt = -Infinity;
  for (let count = 0; count < times.polls; count += 1) {
    // Do not pause after a read that has waited.
    await pause(Math.max(readAt + times.poll - Date.now(), 0), signal);
    readAt = Date.now();
    const run = await transport.send('readRun', {
      ids: [runId],
      signal,
      waitSeconds: waitSeconds || undefined,
    });
    const isOver = END_STATES.has(run.state);
    const state: RunEvent = { event: 'state', id: undefined, data: run };
    const open = run.steps.findIndex(({ state }) => state === 'pending' || state === 'started');
    const finished = isOver || open === -1 ? run.steps : run.steps.slice(0, open);
    if (!isOver) yield state;
    for (const data of finished) yield { event: 'step', id: undefined, data } satisfies RunEvent;
    if (isOver) yield state;
  }
}
