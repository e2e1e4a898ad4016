import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'koa';
import type { StreamEnd } from '#core/execution/run-events/index.ts';
import { oncePerObject } from '#lib/coalesce.ts';
import type { SentEvent, StreamInput } from '../route.ts';

export interface StreamSource {
  readonly open: (input: StreamInput) => Promise<AsyncIterable<SentEvent> | undefined>;
  /** Tells whether the caller may still read the stream. Waits while the database is away, until the signal aborts. */
  readonly isAllowed: (signal: AbortSignal) => Promise<boolean>;
  readonly checkEveryMs: number;
}

/** Interval of the comments that show proxies and the client that the connection is alive. */
const HEARTBEAT_MS = 15_000;

/** Longest duration of a stream; afterwards the client has to connect again. */
const LONGEST_MS = 15 * 60_000;

/** Time that a client may take to read the events that wait for it. */
const PATIENCE_MS = 15_000;

/**
 * Sends server-sent events (HTML Standard, section 9.2), or 204 when there are none. Headers and events are sent at
 * once. The signal aborts when the client leaves. A client that does not read is disconnected once two events wait for
 * it.
 */
export async function sendEvents(
  ctx: Context,
  { open, isAllowed, checkEveryMs }: StreamSource,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const end = (reason?: StreamEnd) => over.abort(reason);
  const timer = setTimeout(() => end('time_limit'), LONGEST_MS);
  const patience = createPatience(patienceMs, () => ctx.res.destroy());
  ctx.res.once('close', () => {
    clearTimeout(timer);
    patience.end();
    end();
  });
  const events = await open({ lastEventId: ctx.get('last-event-id'), signal });
  if (events === undefined) {
    ctx.status = 204;
    return;
  }
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  // Tell proxies not to wait: some would otherwise delay the response until it is complete.
  ctx.set({ 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' });
  ctx.body = Readable.from(timed(framed(events), patience));
  // If the check fails, the stream ends, so that the client reconnects and gets the error.
  void untilForbidden(isAllowed, checkEveryMs, signal).then(
    () => end('access_ended'),
    () => end(),
  );
}

async function untilForbidden(
  isAllowed: StreamSource['isAllowed'],
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  do await sleep(everyMs, undefined, { signal, ref: false });
  while (await isAllowed(signal));
}

interface Patience {
  begin(): void;
  end(): void;
}

function createPatience(ms: number, lose: () => void): Patience {
  let timer: NodeJS.Timeout | undefined;
  const end = () => clearTimeout(timer);
  return {
    begin() {
      end();
      timer = setTimeout(lose, ms);
    },
    end,
  };
}

async function* timed(frames: AsyncIterable<string>, patience: Patience): AsyncGenerator<string> {
  for await (const frame of frames) {
    patience.begin();
    yield frame;
    patience.end();
  }
  patience.begin();
}

/** Yields the lines of a stream: its events, and a comment after each `heartbeatMs` without an event. */
export async function* framed(events: AsyncIterable<SentEvent>, heartbeatMs = HEARTBEAT_MS): AsyncGenerator<string> {
  yield 'retry: 2000\n\n';
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  for (;;) {
    const result = await nextWithin(next, heartbeatMs);
    if (result === 'idle') {
      yield ': still here\n\n';
      continue;
    }
    if (result.done === true) return;
    yield frameOf(result.value);
    next = iterator.next();
  }
}

function frameOf({ event, id, retryMs, data }: SentEvent): string {
  const lines = [
    `event: ${event}`,
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    `data: ${typeof data === 'object' && data !== null ? serialized(data) : JSON.stringify(data)}`,
  ];
  return `${lines.join('\n')}\n\n`;
}

/** Serializes an object once for all its followers. */
const serialized = oncePerObject((data: object) => JSON.stringify(data));

function nextWithin<T>(next: Promise<T>, ms: number): Promise<T | 'idle'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('idle'), ms);
    next.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
