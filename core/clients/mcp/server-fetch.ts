import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { FetchLimits, OutboundClient } from '#lib/outbound/index.ts';
import { ToolServerError } from './error.ts';
import type { ToolServer } from './server.ts';
import { createResponseWatch, type ResponseWatch } from './session-life.ts';

/** The `fetch` under the MCP client, and what can be known only there. */
export interface ServerFetch {
  readonly fetch: typeof globalThis.fetch;
  readonly watch: ResponseWatch;
  /** The values that authenticated requests, so that they can be kept out of what is recorded. */
  secrets(this: void): readonly string[];
}

interface ResponseLimits extends JsonLimits {
  readonly bytes: number;
}

/** One page of tools, some hundreds of usual ones: the API checks it within 50 ms, also when each of them is wrong. */
const LIST_LIMITS: ResponseLimits = { bytes: 2 * 1024 * 1024, objects: 5_000, values: 15_000 };
/**
 * One result, with the framing around it; a model is given much less of it. It occupies the worker for less than a
 * second when every part of it is wrong.
 */
const RESULT_LIMITS: ResponseLimits = { bytes: 1024 * 1024, objects: 10_000, values: 50_000 };

/**
 * Makes the `fetch` for one server: guarded, authenticated request by request, and limited in size by the kind of
 * request. A server that refuses the credentials has not carried the request out, so it is repeated once with others.
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
  /** The method of the latest request; what a stream goes on with after a break is the response to it. */
  let method = '';

  function noteSecrets(auth: Readonly<Record<string, string>>): void {
    for (const value of Object.values(auth)) secrets.add(value.replace(/^Bearer /i, ''));
  }

  async function fetch(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input);
    const resumed = new Headers(init?.headers).has('last-event-id');
    // Nothing is served to a server outside of our requests, so it gets no stream to ask on.
    if (init?.method === 'GET' && !resumed) return new Response(null, { status: 405 });

    const asked = jsonRpcRequest(init?.body);
    // The client tells its caller of a refusal or a failure at once, whether or not the body is read.
    const onEnd: FetchLimits['onEnd'] = (end, status) => {
      const bringsResult = status >= 200 && status <= 299 && (asked !== undefined || resumed);
      if (bringsResult && end.how !== 'cancelled') {
        watch.ended(end.how === 'failed' ? end.fault : undefined);
      }
    };
    const send = async (auth: Readonly<Record<string, string>>) => {
      noteSecrets(auth);
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(auth)) headers.set(name, value);
      return outbound.fetchWithin({ maxResponseBytes: limits.bytes, onEnd })(url, {
        ...init,
        headers,
      });
    };

    if (asked !== undefined) {
      method = asked.method;
      watch.sent();
    }
    const limits = method === 'tools/list' ? LIST_LIMITS : RESULT_LIMITS;
    const isHome = url.origin === home;
    let auth = isHome ? await credentials.headers(signal) : {};
    let response = await send(auth);
    for (let repeated = false; ; repeated = true) {
      const refusal = refusalOf(response);
      if (refusal === undefined) break;
      const { challenge, demandedScopes } = refusal;
      await response.body?.cancel();
      // A second refusal is of credentials that were renewed in between: they do not work, or lack a scope.
      const other = isHome ? await credentials.refused(auth, signal, demandedScopes, repeated) : undefined;
      if (other === undefined || repeated) throw new ToolServerError('sign_in', { challenge });
      auth = other;
      response = await send(auth);
    }
    if (resumed && !response.ok) watch.notResumed();
    // The client reads an error as text, and says nothing to its caller when an event stream breaks off.
    return response.ok ? limitJson(response, limits, watch.ended) : response;
  }

  return { fetch, watch, secrets: () => [...secrets] };
}

const request = z.object({ id: z.union([z.number(), z.string()]), method: z.string() });

function jsonRpcRequest(body: RequestInit['body']): { method: string } | undefined {
  if (typeof body !== 'string') return undefined;
  const { success, data } = request.safeParse(JSON.parse(body));
  return success ? data : undefined;
}

/** The response of a server that does not take the credentials of a request, and so has not carried it out. */
export interface Refusal {
  /** The `WWW-Authenticate` header (RFC 9728, section 5.1). */
  readonly challenge: string | undefined;
  /** The scopes that the credentials, good otherwise, would have to cover too. Undefined in a plain 401. */
  readonly demandedScopes: readonly string[] | undefined;
}

/** Tells a refusal from other responses: 401, or 403 where a scope is missing (RFC 6750, section 3.1). */
function refusalOf(response: Response): Refusal | undefined {
  const challenge = response.headers.get('www-authenticate') ?? undefined;
  if (response.status === 401) return { challenge, demandedScopes: undefined };
  if (response.status !== 403) return undefined;
  const { error, scope } = extractWWWAuthenticateParams(response);
  if (error !== 'insufficient_scope') return undefined;
  return { challenge, demandedScopes: scopesOf(scope) };
}

/** Reads the scopes that a server names: at most as many as a person would look through, and only valid ones. */
function scopesOf(text = ''): string[] {
  const scopes = text.split(' ').filter((scope) => SCOPE.test(scope));
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}

const MAX_SCOPES = 50;
/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/**
 * Returns the values in an address's query that have to be kept out of what a tool sends back: those that are called a
 * secret or look like one. The others are names of projects and the like, which a result may well hold.
 */
export function secretsInAddress(url: string): string[] {
  return [...new URL(url).searchParams].flatMap(([name, value]) => {
    if (value === '') return OPAQUE.test(name) ? [name] : [];
    return SECRET_NAME.test(name) || OPAQUE.test(value) ? [value] : [];
  });
}

const SECRET_NAME = /key|token|secret|auth|pass|pwd|sig|cred|code/i;
const OPAQUE = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{16,}$/i;

/** Limits on the JSON of one response. */
export interface JsonLimits {
  readonly objects: number;
  /** Members of objects, items of lists, and the objects and lists themselves. */
  readonly values: number;
}

/**
 * Breaks a response off where it holds more JSON than this, before it is parsed. Bytes alone do not bound the
 * work: 4 MiB are 95,000 tiny tools or two million numbers, which take the event loop seconds to parse and check.
 * @throws {ToolServerError} `too_large`, to the reader of the body
 */
export function limitJson(
  response: Response,
  limits: JsonLimits,
  onExceeded: (error: ToolServerError) => void,
): Response {
  if (response.body === null) return response;
  const count = createCounter();
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const { objects, values } = count(chunk);
        if (objects <= limits.objects && values <= limits.values) {
          controller.enqueue(chunk);
          return;
        }
        const error = new ToolServerError('too_large');
        onExceeded(error);
        controller.error(error);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}

/**
 * Match what ends a stretch of a string, and what counts or begins one outside: a native search, as most bytes are
 * text.
 */
const WITHIN_STRING = /["\\\n\r]/g;
const OUTSIDE = /["{[,]/g;

/**
 * Makes a function that counts on with each chunk. No string of JSON goes over the end of a line, so each line begins
 * outside of one: nothing in an event stream, whose other lines hold anything, makes it take the one for the other.
 */
function createCounter(): (chunk: Uint8Array) => JsonLimits {
  let inString = false;
  let isEscaped = false;
  let objects = 0;
  let values = 0;
  return ({ buffer, byteOffset, byteLength }) => {
    // A character a byte: those of JSON's own signs are no part of others in UTF-8.
    const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
    for (let at = 0; at < text.length;) {
      if (isEscaped) {
        isEscaped = false;
        // The end of a line ends the string all the same.
        inString = !isLineEnd(text[at]);
        at += 1;
        continue;
      }
      const pattern = inString ? WITHIN_STRING : OUTSIDE;
      pattern.lastIndex = at;
      if (!pattern.test(text)) break;
      at = pattern.lastIndex;
      const sign = text[at - 1];
      if (inString) {
        isEscaped = sign === '\\';
        inString = isEscaped;
      } else if (sign === '"') {
        inString = true;
      } else {
        values += 1;
        if (sign === '{') objects += 1;
      }
    }
    return { objects, values };
  };
}

function isLineEnd(sign: string | undefined): boolean {
  return sign === '\n' || sign === '\r';
}
