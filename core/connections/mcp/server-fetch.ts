import { z } from 'zod';
import type { FetchLimits, OutboundClient } from '#lib/outbound/index.ts';
import type { Connection } from '../connection.ts';
import type { CredentialSource } from '../credential-source.ts';
import { ToolServerFault } from './fault.ts';
import { refusalOf } from './refusal.ts';

export interface ServerFetchOptions {
  readonly outbound: Pick<OutboundClient, 'fetchWithin'>;
  readonly credentials: CredentialSource;
  readonly connection: Connection & { readonly url: string };
  /** Told of every exchange that carries a JSON-RPC request. */
  readonly watch: AnswerWatch;
  readonly signal: AbortSignal;
}

export interface AnswerWatch {
  sent(): void;
  /** The answer has ended, whether or not it held what was asked for. */
  ended(fault: unknown): void;
  /** A stream that was to be resumed could not be. */
  notResumed(): void;
  /** The credentials of this request, so that they can be kept out of what is recorded. */
  used(headers: Readonly<Record<string, string>>): void;
}

/** The list of a server with a thousand described tools. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** One result, with the framing around it; what a model is given of it is much less. */
export const MAX_RESULT_BYTES = 1024 * 1024;

/**
 * The `fetch` under the MCP client: guarded, authenticated for each request anew, and limited in size by what was
 * asked for. A request whose credentials were refused has not been carried out, so it is repeated once when there are
 * others.
 */
export function createServerFetch(options: ServerFetchOptions): typeof fetch {
  const { outbound, credentials, connection, watch } = options;
  const home = new URL(connection.url).origin;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const resumed = new Headers(init?.headers).has('last-event-id');
    // Nothing is served to a server outside of our requests, so it gets no stream to ask on.
    if (init?.method === 'GET' && !resumed) return new Response(null, { status: 405 });

    const asked = jsonRpcRequest(init?.body);
    // A refusal or a failure the client tells its caller of at once, whether or not its body is read.
    const onEnd: FetchLimits['onEnd'] = (end, status) => {
      const isAnswer = status >= 200 && status <= 299 && (asked !== undefined || resumed);
      if (isAnswer && end.how !== 'cancelled') {
        watch.ended(end.how === 'failed' ? end.fault : undefined);
      }
    };
    const send = async (auth: Readonly<Record<string, string>>) => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(auth)) headers.set(name, value);
      const maxResponseBytes = asked?.method === 'tools/list' ? MAX_LIST_BYTES : MAX_RESULT_BYTES;
      return outbound.fetchWithin({ maxResponseBytes, onEnd })(url, { ...init, headers });
    };

    if (asked !== undefined) watch.sent();
    const isHome = url.origin === home;
    let auth = isHome ? await credentials.headers(connection, options.signal) : {};
    watch.used(auth);
    let response = await send(auth);
    for (let repeated = false; ; repeated = true) {
      const refusal = refusalOf(response);
      if (refusal === undefined) break;
      const { challenge, demandedScopes } = refusal;
      await response.body?.cancel();
      // The second 401 says nothing new, but a renewed token may turn out to lack a scope.
      const isNews = !repeated || demandedScopes !== undefined;
      const other =
        isHome && isNews
          ? await credentials.refused(connection, auth, options.signal, demandedScopes)
          : undefined;
      if (other === undefined || repeated) throw new ToolServerFault('sign_in', { challenge });
      auth = other;
      watch.used(auth);
      response = await send(auth);
    }
    if (resumed && !response.ok) watch.notResumed();
    return response;
  };
}

const request = z.object({ id: z.union([z.number(), z.string()]), method: z.string() });

function jsonRpcRequest(body: RequestInit['body']): { method: string } | undefined {
  if (typeof body !== 'string') return undefined;
  const { success, data } = request.safeParse(JSON.parse(body));
  return success ? data : undefined;
}
