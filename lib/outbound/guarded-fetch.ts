import { call, type Answer, type CallContext, type CallLimits } from './call.ts';
import { OutboundError } from './errors.ts';
import { readOutgoing } from './exchange.ts';
import type { RedirectLimit } from './redirects.ts';
import { checkedUrl } from './urls.ts';

export interface FetchLimits {
  /** Limit after decompression, over the whole life of a stream. Default 10 MiB. */
  maxResponseBytes?: number;
  /** Longest time from the call to the last byte of the body. Without it there is no limit, so pass a signal. */
  timeoutMs?: number;
  /** Called once, when the body of the response has ended. */
  onEnd?: CallLimits['onEnd'];
}

/**
 * Creates a `fetch` for libraries that accept one. It differs from the standard `fetch`: errors are `OutboundError`; at
 * most five redirects are followed, with the checks of `follow`; `redirect: 'manual'` returns the redirect itself,
 * readable; a request body is read into memory before it is sent. An abort rejects with the signal's reason.
 */
export function createGuardedFetch(
  context: CallContext,
  { maxResponseBytes = 10 * 1024 * 1024, timeoutMs, onEnd }: FetchLimits = {},
): typeof globalThis.fetch {
  return async (input, init) => {
    const given = input instanceof Request ? input : undefined;
    const url = checkedUrl(input instanceof Request ? input.url : input, context.allowPrivateNetwork);
    const outgoing = await readOutgoing(url, given, init);
    const answer = await call(
      outgoing,
      {
        timeoutMs,
        maxResponseBytes,
        onOverflow: 'error',
        redirects: REDIRECT_LIMITS[outgoing.redirect],
        signal: init?.signal ?? given?.signal,
        onEnd,
      },
      context,
    );
    return toStandardResponse(answer);
  };
}

const REDIRECT_LIMITS: Record<Request['redirect'], RedirectLimit> = {
  follow: 5,
  manual: 'return',
  error: 0,
};

/**
 * Turns undici's response into the runtime's own `Response` class, which libraries test for.
 */
function toStandardResponse(answer: Answer): Response {
  const { status, statusText, headers, body, url, redirected } = answer;
  if (status < 200 || status > 599) {
    body?.cancel().catch(() => undefined);
    throw new OutboundError('protocol_error', `${status} is not an HTTP status`, {
      host: url.host,
    });
  }
  const response = new Response(body, { status, statusText, headers });
  // Define these properties, which the constructor cannot set.
  Object.defineProperty(response, 'url', { value: url.href });
  Object.defineProperty(response, 'redirected', { value: redirected });
  return response;
}
