import type { Response } from 'undici';
import { OutboundError } from './errors.ts';
import type { OutboundRequest } from './exchange.ts';

export interface Followed {
  url: URL;
  response: Response;
  redirected: boolean;
}

export interface RedirectOptions {
  /**
   * Number of redirects that are followed; one more redirect throws. `return` returns a redirect like any other
   * response.
   */
  redirects: RedirectLimit;
  /** Returns the URL; throws unless it is allowed. */
  check: (url: string) => URL;
  send: (request: OutboundRequest) => Promise<Response>;
}

export type RedirectLimit = number | 'return';

/**
 * Sends a request and follows redirects as fetch does (RFC 9110, 15.4). Checks each target like the first address.
 * Where secrets could leak, this function is stricter than fetch: across origins it keeps only headers that reveal
 * nothing about the caller, and never sends a request body to another origin.
 */
export async function follow(first: OutboundRequest, options: RedirectOptions): Promise<Followed> {
  let request = first;
  let response = await options.send(request);
  for (let followed = 0; options.redirects !== 'return' && isRedirect(response); followed++) {
    const from = request.url;
    // Discard the body: the connection of an unread response would stay open.
    await response.body?.cancel();
    if (followed >= options.redirects) {
      throw new OutboundError('redirect_refused', 'too many redirects', { host: from.host });
    }
    try {
      request = redirected(request, response, options.check);
      response = await options.send(request);
    } catch (error) {
      throw afterRedirect(error, from);
    }
  }
  return { url: request.url, response, redirected: request !== first };
}

function isRedirect(response: Response): boolean {
  return REDIRECT_STATUSES.has(response.status) && response.headers.has('location');
}

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirected(request: OutboundRequest, response: Response, check: RedirectOptions['check']): OutboundRequest {
  const from = request.url;
  const target = URL.parse(response.headers.get('location') ?? '', from.href);
  if (target === null) throw new OutboundError('redirect_refused', 'redirect to no URL', { host: from.host });
  const url = check(target.href);
  const isSameOrigin = url.origin === from.origin;
  if (from.protocol === 'https:' && url.protocol !== 'https:') {
    throw new OutboundError('redirect_refused', 'redirect from https to http', { host: from.host });
  }
  const headers = isSameOrigin ? new Headers(request.headers) : harmlessHeaders(request.headers);
  if (!keepsMethod(request.method, response.status)) {
    for (const name of BODY_HEADERS) headers.delete(name);
    return { url, method: 'GET', headers, body: undefined };
  }
  if (request.body !== undefined && !isSameOrigin) {
    throw new OutboundError('redirect_refused', 'redirect of a request body to another origin', {
      host: from.host,
    });
  }
  return { ...request, url, headers };
}

function keepsMethod(method: string, status: number): boolean {
  if (status === 303) return method === 'GET' || method === 'HEAD';
  return !(method === 'POST' && (status === 301 || status === 302));
}

const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type'];

/** Keeps only headers of an allow-list. Any other header may be a credential or a session id, under any name. */
function harmlessHeaders(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => HARMLESS_HEADERS.has(name)));
}

const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-language',
  'content-type',
  'mcp-protocol-version',
  'user-agent',
]);

/** Marks an error that follows a redirect: the first server has already received the request. */
function afterRedirect(error: unknown, from: URL): unknown {
  if (!(error instanceof OutboundError) || error.code === 'redirect_refused') return error;
  const isBlocked = error.code === 'blocked_url' || error.code === 'blocked_address';
  return new OutboundError(isBlocked ? 'redirect_refused' : error.code, `after a redirect: ${error.message}`, {
    host: from.host,
    mayHaveArrived: true,
  });
}
