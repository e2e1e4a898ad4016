import { z } from 'zod';
import type { Core } from '#core/core.ts';
import { authenticateClient } from '#core/integrations/connections/index.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import { OutboundError, outboundErrorIn } from '#lib/outbound/index.ts';
import type { OAuthCredential } from '../store/credential.ts';
import type { AccountsCore } from '../core.ts';
import { signInOf } from './server.ts';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
  /** Undefined when it is the one that was asked for. */
  readonly scope: string | undefined;
  readonly idToken: string | undefined;
}

/**
 * The endpoint gave no tokens. `refused`: it does not take the grant, or us, any more. `error`: it said another error
 * of OAuth's, so nothing was issued. `not_sent`: it was never asked. `unknown`: it may have acted, and only it knows.
 */
export class TokenRequestError extends Error {
  override readonly name = 'TokenRequestError';
  readonly kind: 'refused' | 'error' | 'not_sent' | 'unknown';
  /** The error of a closed list, fit for a log; `other` for what a server made up. */
  readonly error: string;

  constructor(kind: TokenRequestError['kind'], error: string) {
    super(`the token endpoint gave no tokens: ${error}`);
    this.kind = kind;
    this.error = error;
  }
}

/** Timeout that is longer than any token endpoint takes and shorter than the leases under which one is asked. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 256 * 1024;
const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3600;
/** Characters that may stand in a header. */
const VISIBLE = /^[\x21-\x7e]{1,16384}$/;

const answer = z.object({
  access_token: z.string().regex(VISIBLE),
  refresh_token: z.string().min(1).max(16_384).nullish(),
  expires_in: z.coerce.number().nullish().catch(undefined),
  scope: z.string().max(10_000).nullish(),
  id_token: z.string().max(65_536).nullish(),
});
const errorAnswer = z.object({ error: z.string() });

/** Asks the token endpoint for tokens. @throws {TokenRequestError} */
export async function requestTokens(
  deps: Pick<Core, 'outbound'>,
  provider: ModelProvider,
  target: { readonly tokenEndpoint: string; readonly clientId: string },
  grant: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const auth = signInOf(provider);
  const { status, body } = await postAsClient(deps, provider, {
    url: target.tokenEndpoint,
    clientId: target.clientId,
    parameters: {
      ...auth.extraTokenParameters,
      ...(auth.resource === undefined ? {} : { resource: auth.resource }),
      ...grant,
    },
  });
  // Some send errors with status 200.
  const said = errorAnswer.safeParse(body);
  if (said.success && status < 500) throw errorOf(said.data.error, auth.refusals);
  if (status === 503 || status === 429) throw new TokenRequestError('error', `status_${status}`);
  if (status !== 200) throw new TokenRequestError('unknown', `status_${status}`);
  const parsed = answer.safeParse(body);
  if (!parsed.success) throw new TokenRequestError('unknown', 'no_tokens');
  const { access_token, refresh_token, expires_in, scope, id_token } = parsed.data;
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? undefined,
    expiresInSeconds: lifetime(expires_in),
    scope: scope ?? undefined,
    idToken: id_token ?? undefined,
  };
}

/**
 * Posts to an endpoint of the authorization server as the operator's client, and reads JSON. @throws
 * {TokenRequestError}
 */
export async function postAsClient(
  { outbound }: Pick<Core, 'outbound'>,
  provider: ModelProvider,
  request: {
    readonly url: string;
    readonly clientId: string;
    readonly parameters: Readonly<Record<string, string>>;
  },
): Promise<{ readonly status: number; readonly body: unknown }> {
  const auth = signInOf(provider);
  const parameters = new URLSearchParams(request.parameters);
  const headers = new Headers({ accept: 'application/json' });
  authenticateClient(
    { tokenEndpointAuthMethods: [auth.tokenEndpointAuth] },
    {
      id: request.clientId,
      secret: provider.client?.secret,
      authMethod: auth.tokenEndpointAuth,
      given: true,
    },
    headers,
    parameters,
  );
  const isJson = auth.tokenBody === 'json';
  headers.set('content-type', isJson ? 'application/json' : 'application/x-www-form-urlencoded;charset=UTF-8');
  const fetch = outbound.fetchWithin({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES });
  try {
    const response = await fetch(request.url, {
      method: 'POST',
      headers,
      body: isJson ? JSON.stringify(Object.fromEntries(parameters)) : parameters.toString(),
      redirect: 'error',
    });
    return { status: response.status, body: parsedJson(await response.text()) };
  } catch (error) {
    const fault = outboundErrorIn(error) ?? (error instanceof OutboundError ? error : undefined);
    const kind = fault?.mayHaveArrived === false ? 'not_sent' : 'unknown';
    throw new TokenRequestError(kind, fault?.code ?? 'failed');
  }
}

/** RFC 6749, section 5.2; RFC 8628, section 3.5. */
const KNOWN_ERRORS: ReadonlySet<string> = new Set([
  'access_denied',
  'authorization_pending',
  'expired_token',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'slow_down',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
]);
const CLIENT_REFUSED: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

function errorOf(error: string, refusals: readonly string[]): TokenRequestError {
  const refused = refusals.includes(error) || CLIENT_REFUSED.has(error);
  const shown = KNOWN_ERRORS.has(error) || refused ? error : 'other';
  return new TokenRequestError(refused ? 'refused' : 'error', shown);
}

function lifetime(seconds: number | null | undefined): number | undefined {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined;
  return Math.min(Math.max(Math.floor(seconds), 0), MAX_LIFETIME_SECONDS);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Hands tokens back to their issuer (RFC 7009): the refresh token, with which the access tokens go, else the access
 * token.
 * @returns `unsupported` where the provider takes none back
 * @throws when it may pass
 */
export async function revokeTokens(
  deps: Pick<AccountsCore, 'findModelServer' | 'outbound'>,
  provider: ModelProvider,
  credential: Pick<OAuthCredential, 'accessToken' | 'refreshToken' | 'clientId'>,
): Promise<'revoked' | 'unsupported'> {
  const { revocationEndpoint: url } = await deps.findModelServer(provider);
  if (url === undefined) return 'unsupported';
  const { accessToken, refreshToken, clientId } = credential;
  const { status } = await postAsClient(deps, provider, {
    url,
    clientId,
    parameters: {
      token: refreshToken ?? accessToken,
      token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token',
    },
  });
  if (status !== 200) throw new Error(`status ${status}`);
  return 'revoked';
}
