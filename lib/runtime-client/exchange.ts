import { Agent, request, type Dispatcher } from 'undici';
import {
  CallFailure,
  createFrameOpener,
  EnvelopeError,
  MAX_ENVELOPE_BYTES,
  sealRequest,
  type EnvelopeKeys,
  type FrameContent,
  type RequestToSeal,
} from '#lib/envelope/index.ts';
import { now } from '#lib/clock.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';

/** Longest silence. A working runtime sends a frame every five seconds. */
export const SILENCE_MS = 20_000;
const CONNECT_MS = 5_000;
/** Longest wait that a busy runtime can ask for. */
const LONGEST_WAIT_MS = 60_000;

/** Opens the connections to one runtime: TLS 1.3, HTTP/1.1, and trust in its own authority only. */
export function openConnections(ca: string): Agent {
  return new Agent({
    allowH2: false,
    connections: 16,
    // No limit here, because `silenceMs` limits the time between frames.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      ca,
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
      timeout: CONNECT_MS,
    },
  });
}

export interface Exchange {
  readonly url: URL;
  readonly agent: Agent;
  readonly keys: EnvelopeKeys;
  readonly silenceMs: number;
}

/**
 * Sends one envelope and reads its frames.
 * @returns the value of the last frame, if the frame is a result
 * @throws {CallFailure} if the last frame is a failure; {RuntimeUnreachable} if no last frame arrives; or the signal's
 * reason
 */
export async function exchange(
  sealed: RequestToSeal,
  { url, agent, keys, silenceMs }: Exchange,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { envelope, digest } = await sealRequest(sealed, keys).catch((error: unknown) => {
    throw error instanceof RangeError ? new CallFailure('too_large') : error;
  });
  const { audience, purpose, requestId } = sealed.claims;
  const silence = startSilenceClock(silenceMs, signal);
  try {
    const response = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: envelope,
      signal: silence.signal,
    });
    if (response.statusCode !== 200) throw await refusal(response);
    const issuer = purpose === 'hello' ? null : audience;
    const open = createFrameOpener({ keys, digest, issuer, requestId });
    let last: FrameContent | undefined;
    // Read to the end: closing a connection with an unread response would cost the next call a new handshake.
    for await (const line of linesOf(response.body as AsyncIterable<Buffer>, MAX_ENVELOPE_BYTES)) {
      last = (await open(line)).content;
      silence.restart();
    }
    if (last?.type === 'result') return last.value;
    if (last?.type === 'failure') throw new CallFailure(last.code, last.details);
    throw new RuntimeUnreachable('broken');
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (silence.signal.aborted) throw new RuntimeUnreachable('silent');
    throw understood(error);
  } finally {
    silence.stop();
  }
}

async function refusal({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Error> {
  await body.dump();
  if (statusCode === 413) return new CallFailure('too_large');
  if (statusCode === 500) return new RuntimeUnreachable('failing');
  if (statusCode !== 503)
    return new RuntimeUnreachable('rejected', { clockAheadSeconds: secondsAhead(headers['date']) });
  const wait = headers['retry-after'];
  const retryAfterMs = parseRetryAfter(typeof wait === 'string' ? wait : undefined, {
    now: new Date(now()),
    maxMs: LONGEST_WAIT_MS,
  });
  return new RuntimeUnreachable('busy', { retryAfterMs });
}

function secondsAhead(date: string | string[] | undefined): number | undefined {
  const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.round((time - now()) / 1_000);
}

function understood(error: unknown): Error {
  if (error instanceof CallFailure || error instanceof RuntimeUnreachable) return error;
  if (error instanceof EnvelopeError) return new RuntimeUnreachable('broken');
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const broke = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'UND_ERR_ABORTED';
  return new RuntimeUnreachable(broke ? 'broken' : 'no_connection');
}

function startSilenceClock(ms: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(abort, ms);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer);
      timer = setTimeout(abort, ms);
    },
    stop() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

/** Splits a stream of bytes into lines. Text after the last line end is dropped. */
export async function* linesOf(body: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<string> {
  let parts: string[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    let rest = chunk.toString('latin1');
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield parts.join('') + rest.slice(0, end);
      rest = rest.slice(end + 1);
      parts = [];
      bytes = 0;
    }
    bytes += rest.length;
    if (bytes > maxLineBytes) throw new RuntimeUnreachable('broken');
    parts.push(rest);
  }
}

/**
 * Reasons why a sealed response is missing. The call may be running or even over: only a repeat with the same request
 * id shows which.
 */
export type UnreachableReason =
  /** No connection, or no connection to a runtime with the pinned authority. */
  | 'no_connection'
  /** The runtime is full or stopping. It began nothing. */
  | 'busy'
  /** The runtime refuses these envelopes: it has another secret, is another instance, or one of the clocks is wrong. */
  | 'rejected'
  /** The runtime cannot write its state, and began nothing. */
  | 'failing'
  /** No frame arrived for too long. */
  | 'silent'
  /** The stream ended without its last frame, or with a frame that does not open. */
  | 'broken'
  /** The runtime isolates no sessions, which production does not accept. */
  | 'not_isolated';

export class RuntimeUnreachable extends Error {
  override readonly name = 'RuntimeUnreachable';
  readonly reason: UnreachableReason;
  readonly retryAfterMs: number | undefined;
  /** Seconds by which the runtime's clock is ahead of Postgres. At a minute or more, the runtime refuses all calls. */
  readonly clockAheadSeconds: number | undefined;

  constructor(
    reason: UnreachableReason,
    said: { retryAfterMs?: number | undefined; clockAheadSeconds?: number | undefined } = {},
  ) {
    super(`The provider runtime cannot be reached (${reason}).`);
    this.reason = reason;
    this.retryAfterMs = said.retryAfterMs;
    this.clockAheadSeconds = said.clockAheadSeconds;
  }
}
