import type { Dispatcher } from 'undici';
import { limitedBody, type BodyEnd } from './body.ts';
import { OutboundError } from './errors.ts';
import { exchange, type OutboundRequest } from './exchange.ts';
import { follow, type RedirectLimit } from './redirects.ts';
import { checkedUrl } from './urls.ts';

/** Settings that all calls of one client share. */
export interface CallContext {
  dispatcher: Dispatcher;
  allowPrivateNetwork: boolean;
  userAgent: string;
}

export interface CallLimits {
  /** Limits the whole call, redirects and body included; no limit by default. */
  timeoutMs?: number | undefined;
  maxResponseBytes: number;
  onOverflow: 'error' | 'truncate';
  redirects: RedirectLimit;
  signal?: AbortSignal | undefined;
  /** Called once, when the body of the response has ended. */
  onEnd?: ((end: BodyEnd, status: number) => void) | undefined;
}

export interface Answer {
  url: URL;
  redirected: boolean;
  status: number;
  statusText: string;
  headers: Headers;
  /** Body of the response; null if HTTP allows none. Any other body must be read or cancelled. */
  body: ReadableStream<Uint8Array> | null;
  /** Tells whether the body was cut off, once it has ended. */
  isTruncated: () => boolean;
}

/** Makes one call within its limits. Rejects with `OutboundError`, or with the reason of the caller's signal. */
export async function call(request: OutboundRequest, limits: CallLimits, context: CallContext): Promise<Answer> {
  const { signal, release } = startTimeLimit(request.url.host, limits.timeoutMs, limits.signal);
  if (!request.headers.has('user-agent')) request.headers.set('user-agent', context.userAgent);
  try {
    const { url, response, redirected } = await follow(request, {
      redirects: limits.redirects,
      check: (target) => checkedUrl(target, context.allowPrivateNetwork),
      send: (hop) => exchange(hop, context.dispatcher, signal),
    });
    let isTruncated = false;
    const body = limitedBody(response, {
      host: url.host,
      signal,
      maxBytes: limits.maxResponseBytes,
      onOverflow: limits.onOverflow,
      onEnd: (end) => {
        isTruncated = end.how === 'truncated';
        release();
        limits.onEnd?.(end, response.status);
      },
    });
    return {
      url,
      redirected,
      status: response.status,
      statusText: response.statusText,
      headers: new Headers([...response.headers]),
      body,
      isTruncated: () => isTruncated,
    };
  } catch (error) {
    release();
    throw error;
  }
}

interface TimeLimit {
  /** Aborts at the deadline, or with the caller's signal and its reason. */
  signal: AbortSignal;
  /** Frees the timer and the listener. The caller calls this when the exchange has ended, successfully or not. */
  release: () => void;
}

/** Joins a deadline for the whole exchange, body included, with the caller's signal. */
function startTimeLimit(host: string, timeoutMs: number | undefined, callerSignal: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  const expire = (): void =>
    controller.abort(new OutboundError('timeout', `not finished within ${timeoutMs} milliseconds`, { host }));
  const cancel = (): void => controller.abort(callerSignal?.reason);

  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  if (callerSignal?.aborted === true) cancel();
  callerSignal?.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', cancel);
    },
  };
}
