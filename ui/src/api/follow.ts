import { createParser } from 'eventsource-parser';
import { parseExact } from '#ui/format/exact-number.ts';
import { errorOf, type ApiError } from './error.ts';

export type FollowStatus =
  | 'connecting'
  | 'live'
  | 'reconnecting'
  /** Streams are blocked, so the caller reads at intervals. */
  | 'polling'
  | 'ended'
  /** The caller may not read the stream, or may no longer read it. */
  | 'refused';

export interface FollowedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

export interface FollowOptions {
  readonly path: string;
  readonly projectId: string | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: (event: FollowedEvent) => void;
  readonly onStatus: (status: FollowStatus, error?: ApiError) => void;
  /**
   * Reads the events of the stream up to now, without the stream.
   * @returns true when the stream is complete
   */
  readonly poll: () => Promise<boolean>;
  /** Times that replace the defaults in tests. */
  readonly times?: Partial<Times>;
}

interface Times {
  /** Longest wait for the first byte. The server sends it at once, so a silent stream is blocked on its way. */
  readonly firstMs: number;
  /** Silence after which the connection is given up. The server sends at least a comment every 15 seconds. */
  readonly silenceMs: number;
  readonly retryMs: number;
  readonly maxRetryMs: number;
  readonly pollMs: number;
  /** Number of attempts without an event before polling begins. After ten polls, a stream is tried again. */
  readonly attempts: number;
}

const TIMES: Times = {
  firstMs: 10_000,
  silenceMs: 40_000,
  retryMs: 1_000,
  maxRetryMs: 15_000,
  pollMs: 3_000,
  attempts: 3,
};

/**
 * Follows a stream of server-sent events over `fetch`, because an `EventSource` cannot send `X-Project-Id`. After a
 * broken or silent connection it continues after the last event. If streams are blocked, it polls.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const times = { ...TIMES, ...options.times };
  const { signal, onStatus } = options;
  const state = { lastEventId: '', retryMs: times.retryMs, failures: 0 };
  onStatus('connecting');
  while (!signal.aborted) {
    const outcome = await readStream(options, times, state);
    if (signal.aborted) return;
    if (outcome === 'ended') return onStatus('ended');
    if (outcome instanceof Error) return onStatus('refused', outcome);
    if (outcome === 'held') state.failures = times.attempts;
    else state.failures = outcome === 'progress' ? 0 : state.failures + 1;
    if (state.failures >= times.attempts) {
      onStatus('polling');
      if (await pollAWhile(options, times)) return onStatus('ended');
    } else {
      onStatus('reconnecting');
      await pause(Math.min(state.retryMs * 2 ** state.failures, times.maxRetryMs), signal);
    }
  }
}

/** Outcome of one connection: events arrived, no event arrived, not even a byte arrived, or the stream has ended. */
type Outcome = 'progress' | 'nothing' | 'held' | 'ended' | ApiError;

const HELD = 'no byte came';

async function readStream(
  { path, projectId, signal, onEvent, onStatus }: FollowOptions,
  times: Times,
  state: { lastEventId: string; retryMs: number },
): Promise<Outcome> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(HELD), times.firstMs);
  let outcome: Outcome = 'nothing';
  const parser = createParser({
    onEvent: (message) => {
      if (message.id !== undefined) state.lastEventId = message.id;
      outcome = 'progress';
      onEvent({
        event: message.event ?? 'message',
        id: message.id,
        data: parseExact(message.data),
      });
    },
    onRetry: (ms) => {
      state.retryMs = ms;
    },
  });
  try {
    const response = await fetch(path, {
      headers: {
        Accept: 'text/event-stream',
        ...(projectId === undefined ? {} : { 'X-Project-Id': projectId }),
        ...(state.lastEventId === '' ? {} : { 'Last-Event-ID': state.lastEventId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
      cache: 'no-store',
    });
    if (response.status === 204) return 'ended';
    if (!response.ok || response.body === null) {
      const error = errorOf(response, await response.json().catch(() => undefined));
      return error.isTemporary ? 'nothing' : error;
    }
    onStatus('live');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return outcome;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), times.silenceMs);
      parser.feed(value);
    }
  } catch {
    return silence.signal.reason === HELD ? 'held' : outcome;
  } finally {
    clearTimeout(timer);
  }
}

const POLLS_BEFORE_STREAM = 10;

async function pollAWhile({ poll, signal }: FollowOptions, times: Times): Promise<boolean> {
  for (let count = 0; count < POLLS_BEFORE_STREAM && !signal.aborted; count += 1) {
    if (await poll().catch(() => false)) return true;
    await pause(times.pollMs, signal);
  }
  return false;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
