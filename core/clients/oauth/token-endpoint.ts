import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import { isJsonObject, parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';
import { OutboundError, outboundErrorIn, type OutboundClient } from '#lib/outbound/index.ts';
import { readTokens, type Tokens } from './responses.ts';

/** An endpoint of an authorization server for requests of clients, and this service's client at that server. */
export interface TokenEndpoint {
  readonly url: string;
  readonly client: {
    readonly id: string;
    readonly secret?: string | undefined;
    readonly authMethod?: string | undefined;
  };
  /** The ways to authenticate that the server lists; empty when it lists none. */
  readonly authMethods: readonly string[];
  /** The form of the request's body; default `form`. */
  readonly body?: 'form' | 'json';
  /** Errors that refuse a grant at this server, in place of `GRANT_REFUSED`. */
  readonly refusals?: readonly string[];
}

export interface TokenDeps {
  readonly outbound: Pick<OutboundClient, 'fetchWithin'>;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * The endpoint gave no tokens. `refused`: a known error says that the grant or the client is no longer accepted.
 * `answered`: another error, which may come again. `away`: the server issued nothing, and may do so later. `unknown`:
 * the server may have issued tokens that did not arrive. The server's words are not kept, because they could repeat the
 * request.
 */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly kind: 'refused' | 'answered' | 'away' | 'unknown';
  /** An error of a closed list, safe for a log; `other` for any other word. */
  readonly error: string;
  /** Status and error, which distinguish one response from another. */
  readonly answer: string;
  /** True if the connection broke after the request was sent. */
  readonly isLost: boolean;

  constructor(kind: TokenError['kind'], error: string, options: { status?: number; isLost?: boolean } = {}) {
    super(`the token endpoint gave no tokens: ${error}`);
    this.kind = kind;
    this.error = error;
    this.answer = `${options.status ?? ''} ${error}`.trim();
    this.isLost = options.isLost === true;
  }
}

/** Time limit: longer than any token endpoint takes, and shorter than the lease under which the caller asks. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 256 * 1024;

/** Asks for tokens with these parameters. @throws {TokenError} */
export async function requestTokens(
  deps: TokenDeps,
  endpoint: TokenEndpoint,
  parameters: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const { status, body } = await postAsClient(deps, endpoint, parameters);
  const { value: tokens, dropped } = readTokens(body);
  if (tokens === undefined || status < 200 || status > 299) throw errorOf(status, body, endpoint.refusals);
  if (dropped.length > 0) {
    deps.log.warn({ host: new URL(endpoint.url).host, fields: dropped }, 'fields of a token response were left out');
  }
  return tokens;
}

/**
 * Exchanges a refresh token (RFC 6749, section 6). Sends the granted scope if the server wants it: Microsoft Entra
 * always does, other servers do if they have refused a request without the scope.
 * @throws {TokenError}
 */
export async function refreshTokens(
  deps: TokenDeps,
  endpoint: TokenEndpoint,
  { refreshToken, scope, ...more }: Refresh,
): Promise<Tokens> {
  const request = { ...more.parameters, grant_type: 'refresh_token', refresh_token: refreshToken };
  const ask = async (parameters: Readonly<Record<string, string>>) => {
    try {
      return await requestTokens(deps, endpoint, parameters);
    } catch (error) {
      const isRepeated = more.repeatsLost === true && error instanceof TokenError && error.isLost;
      if (!isRepeated) throw error;
      return requestTokens(deps, endpoint, parameters);
    }
  };
  if (scope === undefined || scope === '') return ask(request);
  if (ENTRA.test(new URL(endpoint.url).hostname)) return ask({ ...request, scope });
  try {
    return await ask(request);
  } catch (error) {
    if (!(error instanceof TokenError) || error.kind !== 'answered') throw error;
    return ask({ ...request, scope });
  }
}

interface Refresh {
  readonly refreshToken: string;
  /** The granted scope; undefined when it is unknown. */
  readonly scope: string | undefined;
  /** Parameters to send in addition to the usual parameters of a refresh. */
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * True to repeat the request immediately, but only once, if the connection breaks before the response. Servers with a
   * grace period expect this of a client that lost its new tokens.
   */
  readonly repeatsLost?: boolean;
}

/** Hosts of Microsoft Entra, including its national clouds. */
const ENTRA = /^(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)$/;

/** Posts to an endpoint as this service's client, and reads its response. @throws {TokenError} `away` or `unknown` */
export async function postAsClient(
  { outbound }: Pick<TokenDeps, 'outbound'>,
  endpoint: TokenEndpoint,
  parameters: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const given = new URLSearchParams(parameters);
  const headers = new Headers({ accept: 'application/json' });
  authenticateClient(endpoint.authMethods, endpoint.client, headers, given);
  const isJson = endpoint.body === 'json';
  headers.set('content-type', isJson ? 'application/json' : FORM);
  const body = isJson ? JSON.stringify(Object.fromEntries(given)) : given.toString();
  const fetch = outbound.fetchWithin({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES });
  try {
    // The guarded client sends a body to no other origin, even if a redirect names one.
    const response = await fetch(endpoint.url, { method: 'POST', headers, body });
    const text = await response.text();
    // The form of the text counts, because servers send JSON and forms under each other's content type, or as a text.
    const form = FORM_TEXT.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined;
    return { status: response.status, body: form ?? parseJson(text) };
  } catch (error) {
    const fault = outboundErrorIn(error) ?? (error instanceof OutboundError ? error : undefined);
    const isSent = fault?.mayHaveArrived !== false;
    throw new TokenError(isSent ? 'unknown' : 'away', fault?.code ?? 'failed', {
      isLost: isSent && fault?.code === 'protocol_error',
    });
  }
}

const FORM = 'application/x-www-form-urlencoded';
const FORM_TEXT = /^\s*\w+=/;

/** Authenticates the client as the MCP client library does at the token endpoint (RFC 6749, section 2.3.1). */
export function authenticateClient(
  authMethods: readonly string[],
  { id, secret, authMethod }: TokenEndpoint['client'],
  headers: Headers,
  body: URLSearchParams,
): void {
  const information = {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(authMethod === undefined ? {} : { token_endpoint_auth_method: authMethod }),
  };
  const method = selectClientAuthMethod(information, [...authMethods]);
  if (method === 'client_secret_basic') {
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${secret ?? ''}`).toString('base64')}`);
    return;
  }
  body.set('client_id', id);
  if (method === 'client_secret_post' && secret !== undefined) body.set('client_secret', secret);
}

/** Statuses below 500 that mean "not now". */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429, 503]);

function errorOf(status: number, body: unknown, refusals = GRANT_REFUSED): TokenError {
  // Read the error in a response of any status, because some servers send errors with status 200.
  const word = isJsonObject(body) && typeof body['error'] === 'string' ? body['error'] : '';
  const isRefused = CLIENT_REFUSED.has(word) || refusals.includes(word);
  const error = isRefused || KNOWN.has(word) ? word : word === '' ? 'no_error' : 'other';
  if (isRefused) return new TokenError('refused', error, { status });
  if (NOT_NOW.has(status) || (status < 500 && PASSING.has(word))) return new TokenError('away', error, { status });
  const isAnswer = (status >= 400 && status <= 499) || (status >= 200 && status <= 299 && isJsonObject(body));
  return new TokenError(isAnswer ? 'answered' : 'unknown', error, { status });
}

/**
 * Errors that refuse a grant: the errors of RFC 6749, section 5.2, and the names that GitHub and Slack use for them.
 */
const GRANT_REFUSED: readonly string[] = [
  'invalid_grant',
  'bad_verification_code',
  'bad_refresh_token',
  'invalid_code',
  'invalid_refresh_token',
  'token_expired',
  'token_revoked',
];
const CLIENT_REFUSED: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
  'invalid_client_id',
  'bad_client_secret',
]);

/** Errors of a server that has not decided yet. */
const PASSING: ReadonlySet<string> = new Set([
  'authorization_pending',
  'server_error',
  'slow_down',
  'temporarily_unavailable',
]);

/** Further errors of RFC 6749, section 5.2, and RFC 8628, section 3.5. */
const KNOWN: ReadonlySet<string> = new Set([
  ...GRANT_REFUSED,
  ...PASSING,
  'access_denied',
  'expired_token',
  'invalid_request',
  'invalid_scope',
  'unsupported_grant_type',
]);
