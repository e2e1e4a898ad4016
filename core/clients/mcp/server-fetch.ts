import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { FetchLimits, OutboundClient } from '#lib/outbound/index.ts';
import { ToolServerError } from './error.ts';
import { limitJson, type JsonLimits } from './json-limits.ts';
import { mendRefusal, mendResponse } from './mend-response.ts';
import { isOfSession, type Asked, type Hold } from './messages.ts';
import type { ToolServer } from './server.ts';
import { createResponseWatch, type ResponseWatch } from './session-life.ts';

/** The `fetch` that the MCP client uses, with facts about its requests that the client does not learn. */
export interface ServerFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly watch: ResponseWatch;
  /** The unchanged result of the latest `tools/…` request, for which the MCP client gets a stand-in. */
  held(this: void): unknown;
  /** True when the error of the latest request has no id, so that it proves nothing about the request. */
  isUnnamed(this: void): boolean;
  /** Values that authenticated requests. They are removed from everything that is recorded. */
  secrets(this: void): readonly string[];
}

interface ResponseLimits extends JsonLimits {
  readonly bytes: number;
}

/**
 * Limits of one page, enough for hundreds of tools. The API checks such a page within 50 ms, even if every tool is
 * wrong.
 */
const LIST_LIMITS: ResponseLimits = { bytes: 2 * 1024 * 1024, objects: 5_000, values: 15_000 };
/**
 * Limits of one result with its framing; a model gets much less of it. Reading a result takes the worker less than a
 * second, even if every part is faulty.
 */
const RESULT_LIMITS: ResponseLimits = { bytes: 1024 * 1024, objects: 10_000, values: 50_000 };

/**
 * Makes the `fetch` for one server. It guards and authenticates each request, and limits the response by the kind of
 * request. A server that refuses the credentials has not carried the request out, so the request is repeated once with
 * other credentials.
 */
export function createServerFetch({
  outbound,
  server,
  signal,
}: {
  readonly outbound: Pick<OutboundClient, 'fetchWithin'>;
  readonly server: ToolServer;
  readonly signal: AbortSignal;
}): ServerFetch {
  const { credentials } = server;
  const home = new URL(server.url).origin;
  const watch = createResponseWatch();
  const secrets = new Set(secretsInAddress(server.url));
  /** The latest request; a resumed stream still responds to this request. */
  let latest: Asked | undefined;
  let held: unknown;
  let isUnnamed = false;

  function noteSecrets(auth: Auth): void {
    for (const value of Object.values(auth)) secrets.add(value.replace(/^Bearer /i, ''));
  }

  /** Tells whether a request is authenticated, by headers or by its address. */
  function isCredentialed(auth: Auth): boolean {
    return Object.keys(auth).length > 0 || secretsInAddress(server.url).length > 0;
  }

  async function fetch(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input);
    const given = new Headers(init?.headers);
    const resumed = given.has('last-event-id');
    // Do not open the stream for requests of a server, because this service answers none.
    if (init?.method === 'GET' && !resumed) return new Response(null, { status: 405 });

    const asked = jsonRpcRequest(init?.body);
    // The client tells its caller of a refusal or failure at once, so only the body of a good response is watched.
    const onEnd: FetchLimits['onEnd'] = (end, status) => {
      const bringsResult = status >= 200 && status <= 299 && (asked !== undefined || resumed);
      if (bringsResult && end.how !== 'cancelled') {
        watch.ended(end.how === 'failed' ? end.fault : undefined);
      }
    };
    if (asked !== undefined) {
      latest = asked;
      held = undefined;
      isUnnamed = false;
    }
    if (!resumed) watch.sent();
    const answered = asked ?? (resumed ? latest : undefined);
    const limits = latest?.method === 'tools/list' ? LIST_LIMITS : RESULT_LIMITS;
    const hasSession = given.has('mcp-session-id');
    const hold: Hold = {
      result(value) {
        if (answered === latest) held = value;
      },
      unnamedError() {
        if (answered === latest) isUnnamed = true;
      },
    };

    const send = async (auth: Auth) => {
      noteSecrets(auth);
      const headers = new Headers(given);
      for (const [name, value] of Object.entries(auth)) headers.set(name, value);
      const response = await outbound.fetchWithin({ maxResponseBytes: limits.bytes, onEnd })(url, { ...init, headers });
      if (response.ok || asked === undefined || !isOfSession(asked)) return response;
      const isDenial = (words: string) => isCredentialed(auth) && deniesCredentials(response, words);
      return mendRefusal(
        limitJson(response, limits, () => undefined),
        asked,
        { hasSession, hold, isDenial },
      );
    };
    const isHome = url.origin === home;
    let auth = isHome ? await credentials.headers(signal) : {};
    let response = await send(auth);
    for (let repeated = false; ; repeated = true) {
      const refusal = refusalOf(response);
      if (refusal === undefined) break;
      const { challenge, demandedScopes } = refusal;
      if (!isCredentialed(auth)) {
        // A sign-in cannot help here: the session is gone, or another server responds now.
        if (hasSession && response.status === 401) break;
        throw new ToolServerError('sign_in', { challenge });
      }
      await response.body?.cancel();
      // A second refusal means that the renewed credentials do not work, or lack a scope.
      const other = isHome ? await credentials.refused(auth, signal, demandedScopes, repeated) : undefined;
      if (other === undefined || repeated) throw new ToolServerError('sign_in', { challenge });
      auth = other;
      response = await send(auth);
    }
    if (resumed && !response.ok) watch.notResumed();
    // Limit only good responses: the client reads an error as text, and does not notice a broken event stream.
    if (!response.ok) return response;
    const limited = limitJson(response, limits, watch.ended);
    return answered === undefined ? limited : mendResponse(limited, answered, hold);
  }

  return { fetch, watch, held: () => held, isUnnamed: () => isUnnamed, secrets: () => [...secrets] };
}

type Auth = Readonly<Record<string, string>>;

const request = z.object({ id: z.union([z.number(), z.string()]), method: z.string() });

function jsonRpcRequest(body: RequestInit['body']): Asked | undefined {
  if (typeof body !== 'string') return undefined;
  const { success, data } = request.safeParse(JSON.parse(body));
  return success ? data : undefined;
}

/** A refusal of a request's credentials: the server has not carried the request out. */
interface ServerRefusal {
  /** The `WWW-Authenticate` header (RFC 9728, section 5.1). */
  readonly challenge: string | undefined;
  /** The scopes that a 403 demands; undefined for a 401. */
  readonly demandedScopes: readonly string[] | undefined;
}

/**
 * Reads a refusal of credentials: a 401, a 403 for a missing scope, or any 4xx that calls the token invalid (RFC 6750,
 * section 3.1).
 */
function refusalOf(response: Response): ServerRefusal | undefined {
  const { status } = response;
  if (status < 400 || status > 499) return undefined;
  const challenge = response.headers.get('www-authenticate') ?? undefined;
  const { error, scope } = extractWWWAuthenticateParams(response);
  if (status === 401 || error === 'invalid_token') return { challenge, demandedScopes: undefined };
  if (status !== 403 || error !== 'insufficient_scope') return undefined;
  return { challenge, demandedScopes: scopesOf(scope) };
}

function deniesCredentials(response: Response, words: string): boolean {
  if (refusalOf(response) === undefined) return false;
  return response.headers.has('www-authenticate') || ABOUT_CREDENTIALS.test(words);
}

const ABOUT_CREDENTIALS = /auth|token|credential|api[ _-]?key|sign(?:ed)?[ -]?in|log(?:ged)?[ -]?in|permission/i;

function scopesOf(text = ''): string[] {
  const scopes = text.split(' ').filter((scope) => SCOPE.test(scope));
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}

/** The most scopes that are read: a person would not look through more. */
const MAX_SCOPES = 50;
/** Matches a scope (RFC 6749, section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/**
 * Returns the values in an address's query that must not appear in a tool's result: values that are named like a secret
 * or look like one. Other values, such as names of projects, may appear.
 */
export function secretsInAddress(url: string): string[] {
  return [...new URL(url).searchParams].flatMap(([name, value]) => {
    if (value === '') return OPAQUE.test(name) ? [name] : [];
    return SECRET_NAME.test(name) || OPAQUE.test(value) ? [value] : [];
  });
}

const SECRET_NAME = /key|token|secret|auth|pass|pwd|sig|cred|code/i;
const OPAQUE = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{16,}$/i;
