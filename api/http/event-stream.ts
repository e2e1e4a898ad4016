import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { SentEvent, StreamInput } from '../route.ts';

/** How often a comment tells proxies and the client that the connection lives. */
const HEARTBEAT_MS = 15_000;

/** After this the client has to come again, and its credential is checked again. */
const LONGEST_MS = 15 * 60_000;

/** How long a follower who has lost the right to watch may go on. */
const CHECK_EVERY_MS = 60_000;

export interface FollowRight {
  /** Tells whether the caller would be let in again. */
  readonly mayFollow: () => Promise<boolean>;
  /** Default: a minute. */
  readonly checkEveryMs?: number | undefined;
}

/**
 * Sends server-sent events (HTML Standard, section 9.2), or 204 when there are none to come. The headers go out at
 * once and the events as they come; a client that goes away aborts the signal.
 */
export async function sendEvents(
  ctx: Context,
  open: (input: StreamInput) => Promise<AsyncIterable<SentEvent> | undefined>,
  { mayFollow, checkEveryMs = CHECK_EVERY_MS }: FollowRight,
): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const timer = setTimeout(() => over.abort(), LONGEST_MS);
  const check = setInterval(() => {
    // When it cannot be told, the next check will.
    void mayFollow().then(
      (may) => may || over.abort(),
      () => undefined,
    );
  }, checkEveryMs);
  ctx.res.once('close', () => {
    clearTimeout(timer);
    clearInterval(check);
    over.abort();
  });
  const events = await open({ lastEventId: ctx.get('last-event-id'), signal });
  if (events === undefined) {
    ctx.status = 204;
    return;
  }
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  // Some proxies would otherwise hold the response back until it is complete.
  ctx.set({ 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' });
  const body = Readable.from(framed(events));
  // The events end with the signal; a client that has stopped reading would keep its connection beyond that.
  const cutOff = () => setTimeout(() => body.destroy(), 5_000).unref();
  signal.addEventListener('abort', cutOff, { once: true });
  ctx.body = body;
}

/** Yields the lines of a stream: the events, and a comment whenever none has come for `heartbeatMs`. */
export async function* framed(
  events: AsyncIterable<SentEvent>,
  heartbeatMs = HEARTBEAT_MS,
): AsyncGenerator<string> {
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
    const { event, id, data } = result.value;
    yield `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    next = iterator.next();
  }
}

function nextWithin<T>(next: Promise<T>, ms: number): Promise<T | 'idle'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('idle'), ms);
    next.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
