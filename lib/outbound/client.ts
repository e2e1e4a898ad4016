import { Agent, type Dispatcher } from 'undici';
import type { CallContext } from './call.ts';
import { createGuardedConnector, createPublicLookup, systemLookup, type Lookup } from './connector.ts';
import { OutboundError } from './errors.ts';
import { createGuardedFetch, type FetchLimits } from './guarded-fetch.ts';
import { sendRequest, type OutboundRequestOptions, type OutboundResponse } from './request.ts';
import { checkedUrl } from './urls.ts';

export const USER_AGENT = 'routine-automation-service';

export interface OutboundClientOptions {
  /** Allows http and private addresses, for local use. */
  allowPrivateNetwork: boolean;
  /** Resolves names; by default through DNS servers or, with `allowPrivateNetwork`, through the operating system. */
  lookup?: Lookup;
  /** PEM certificates that are trusted instead of the usual authorities. */
  ca?: string;
  /** `User-Agent` of requests that set none. */
  userAgent?: string;
  /** Limits name resolution, TCP and TLS together. Default 10 seconds. */
  connectTimeoutMs?: number;
  /**
   * Limits the wait for the headers of a response unless a shorter limit is given. Default 5 minutes, because tools may
   * work that long.
   */
  headersTimeoutMs?: number;
  /** Longest silence of a body, after which it is given up. Default 5 minutes, because event streams may be quiet. */
  idleTimeoutMs?: number;
}

export interface OutboundClient {
  request: (options: OutboundRequestOptions) => Promise<OutboundResponse>;
  /** Guarded `fetch` with the default limits. */
  fetch: typeof globalThis.fetch;
  fetchWithin: (limits: FetchLimits) => typeof globalThis.fetch;
  /** Makes the checks that need no network, when a URL is saved. Returns undefined for a URL that may be called. */
  urlFault: (url: string | URL) => OutboundError | undefined;
  /** Ends all connections; open exchanges fail with `aborted`. */
  close: () => Promise<void>;
}

/**
 * Creates the client for every call to an address from a user or another server: https to public addresses only, with
 * limits on time and size. A request with a body is sent once, and sent again only to follow a redirect within the
 * origin.
 */
export function createOutboundClient(options: OutboundClientOptions): OutboundClient {
  const { allowPrivateNetwork } = options;
  const agent = new Agent({
    // Use HTTP/1.1 only, because with HTTP/2 undici repeats requests that a server declares unprocessed.
    allowH2: false,
    headersTimeout: options.headersTimeoutMs ?? 300_000,
    bodyTimeout: options.idleTimeoutMs ?? 300_000,
    connect: createGuardedConnector({
      allowPrivateNetwork,
      lookup: options.lookup ?? (allowPrivateNetwork ? systemLookup : createPublicLookup()),
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    }),
  });
  const context: CallContext = {
    dispatcher: agent.compose(refuseResetContent),
    allowPrivateNetwork,
    userAgent: options.userAgent ?? USER_AGENT,
  };
  return {
    request: (request) => sendRequest(request, context),
    fetch: createGuardedFetch(context),
    fetchWithin: (limits) => createGuardedFetch(context, limits),
    urlFault(url) {
      try {
        checkedUrl(url, allowPrivateNetwork);
        return undefined;
      } catch (error) {
        if (error instanceof OutboundError) return error;
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * Closes a connection that sends content with status 205, which HTTP forbids (RFC 9110, 15.3.6). `fetch` would end with
 * the headers, drop its abort signal, and read and discard content without end.
 */
function refuseResetContent(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => {
    let isResetContent = false;
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
      onBodySent: (chunk) => handler.onBodySent?.(chunk),
      onRequestSent: () => handler.onRequestSent?.(),
      onResponseStarted: () => handler.onResponseStarted?.(),
      onResponseStart: (controller, status, headers, statusText) => {
        isResetContent = status === 205;
        handler.onResponseStart?.(controller, status, headers, statusText);
      },
      onResponseData: (controller, chunk) => {
        if (isResetContent) controller.abort(new OutboundError('protocol_error', 'content in 205'));
        else handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  };
}
