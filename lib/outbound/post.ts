import { now } from '../clock.ts';
import { parseRetryAfter } from '../retry-after.ts';
import { utf8Start } from '../text.ts';
import type { OutboundClient } from './client.ts';
import { OutboundError } from './errors.ts';
import type { OutboundRequestOptions } from './request.ts';

const TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const EXCERPT_BYTES = 1_024;
/** The longest wait that a receiver may ask for. */
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** Outcome of a post: a response, or in the service's words the reason why there is none. */
export interface Exchange {
  readonly status: number | null;
  readonly error: string | null;
  /** The first 1,024 bytes of the response. */
  readonly responseExcerpt: string | null;
  readonly durationMs: number;
  readonly retryAfterMs: number | undefined;
  /** True when this service broke off the exchange; the receiver is not at fault. */
  readonly interrupted: boolean;
}

export interface PostRequest extends Pick<OutboundRequestOptions, 'url' | 'headers' | 'cutBodyAfterMs'> {
  /** Body as JSON text. */
  readonly body: string;
  /** Limit of the whole exchange, 20 seconds by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Posts JSON to the address of a receiver, once. Any response is an outcome, never an error; a redirect is not
 * followed.
 * @returns the exchange, with at most 64 KiB of the response as `body`
 */
export async function postJson(
  outbound: Pick<OutboundClient, 'request'>,
  { headers, timeoutMs = TIMEOUT_MS, signal, ...request }: PostRequest,
): Promise<Exchange & { readonly body: Buffer }> {
  const startedAt = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAt);
  try {
    const {
      status,
      body,
      headers: answered,
    } = await outbound.request({
      ...request,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      timeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      onOverflow: 'truncate',
      ...(signal && { signal }),
    });
    const retryAfterMs = parseRetryAfter(answered.get('retry-after'), {
      now: new Date(now()),
      maxMs: MAX_RETRY_AFTER_MS,
    });
    // Remove NUL, which Postgres text cannot contain.
    const responseExcerpt = utf8Start(body, EXCERPT_BYTES).replaceAll('\u0000', '');
    return { status, error: null, responseExcerpt, durationMs: elapsedMs(), retryAfterMs, interrupted: false, body };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { message, code } = error;
    return { ...unanswered(message, elapsedMs()), interrupted: code === 'aborted', body: Buffer.alloc(0) };
  }
}

/** Returns the exchange of a post that got no response. */
export function unanswered(error: string, durationMs: number): Exchange {
  const nothing = { status: null, responseExcerpt: null, retryAfterMs: undefined };
  return { ...nothing, error, durationMs, interrupted: false };
}
