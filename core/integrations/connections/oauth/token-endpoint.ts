import {
  exchangeAuthorization,
  IssuerMismatchError,
  OAuthError,
  refreshAuthorization,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import { clientInformationOf, metadataOf, type AuthorizationServer, type OAuthClient } from './authorization-server.ts';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
  /** The granted scope; undefined when it is the one that was asked for. */
  readonly scope: string | undefined;
}

/**
 * The token endpoint gave no tokens: the grant is not accepted any more, the client is not, or the server could not be
 * asked or made no sense. Nothing of what the server said is kept: its words could hold what we sent.
 */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly kind: 'grant_refused' | 'client_refused' | 'unavailable';
  /** Detail from a closed list, fit for a log. */
  readonly detail: string;

  constructor(kind: TokenError['kind'], detail: string) {
    super(`the token endpoint gave no tokens: ${detail}`);
    this.kind = kind;
    this.detail = detail;
  }
}

export interface TokenContext {
  readonly outbound: Pick<OutboundClient, 'fetchWithin'>;
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  readonly resource: string | null;
}

/** Timeout that is longer than any token endpoint takes and shorter than the renewal lease. */
const TOKEN_TIMEOUT_MS = 20_000;
const MAX_TOKEN_BYTES = 256 * 1024;

/**
 * Redeems an authorization code (RFC 6749, section 4.1.3; RFC 7636) that came from the right issuer (RFC 9207).
 * @throws {TokenError}
 */
export function redeemCode(
  context: TokenContext,
  input: { code: string; verifier: string; redirectUri: string; iss: string | undefined },
): Promise<Tokens> {
  // Without a known issuer there is nothing to compare `iss` with.
  const iss = context.server.issuer === undefined ? undefined : input.iss;
  return ask(context, (shared) =>
    exchangeAuthorization(context.server.tokenEndpoint, {
      ...shared,
      ...(iss === undefined ? {} : { iss }),
      authorizationCode: input.code,
      codeVerifier: input.verifier,
      redirectUri: input.redirectUri,
    }),
  );
}

/** Exchanges a refresh token (RFC 6749, section 6); keeps the old one where no new one comes. @throws {TokenError} */
export function renewTokens(context: TokenContext, refreshToken: string): Promise<Tokens> {
  return ask(context, (shared) => refreshAuthorization(context.server.tokenEndpoint, { ...shared, refreshToken }));
}

/** Returns the scopes in a list of them; some providers put commas between. */
export function scopesIn(text: string): string[] {
  return text.split(/[ ,]+/).filter((scope) => scope !== '');
}

async function ask(
  { outbound, server, client, resource }: TokenContext,
  send: (shared: {
    metadata: ReturnType<typeof metadataOf>;
    clientInformation: ReturnType<typeof clientInformationOf>;
    fetchFn: typeof fetch;
    resource?: string;
  }) => Promise<OAuthTokens>,
): Promise<Tokens> {
  try {
    const tokens = await send({
      metadata: metadataOf(server),
      clientInformation: clientInformationOf(client),
      fetchFn: outbound.fetchWithin({
        timeoutMs: TOKEN_TIMEOUT_MS,
        maxResponseBytes: MAX_TOKEN_BYTES,
      }),
      ...(resource === null ? {} : { resource }),
    });
    if (!VISIBLE.test(tokens.access_token)) throw new TokenError('unavailable', 'unusable token');
    const expiresIn = tokens.expires_in;
    return {
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token,
      expiresInSeconds:
        expiresIn !== undefined && Number.isFinite(expiresIn)
          ? Math.min(Math.max(Math.floor(expiresIn), 0), MAX_LIFETIME_SECONDS)
          : undefined,
      scope: tokens.scope,
    };
  } catch (error) {
    throw toTokenError(error);
  }
}

/** Characters that may stand in a header: those of RFC 6750, section 2.1, and more that servers use. */
const VISIBLE = /^[\x21-\x7e]{1,16384}$/;
const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3600;

function toTokenError(error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof OutboundError) return new TokenError('unavailable', error.code);
  if (IssuerMismatchError.isInstance(error)) return new TokenError('unavailable', 'wrong issuer');
  if (!OAuthError.isInstance(error)) return new TokenError('unavailable', 'no token response');
  const kind = REFUSALS.get(error.code);
  return kind === undefined ? new TokenError('unavailable', 'an error response') : new TokenError(kind, error.code);
}

/** RFC 6749, section 5.2, and the words that GitHub and Slack have for the same. */
const REFUSALS: ReadonlyMap<string, TokenError['kind']> = new Map([
  ['invalid_grant', 'grant_refused'],
  ['bad_verification_code', 'grant_refused'],
  ['bad_refresh_token', 'grant_refused'],
  ['invalid_code', 'grant_refused'],
  ['invalid_refresh_token', 'grant_refused'],
  ['token_expired', 'grant_refused'],
  ['token_revoked', 'grant_refused'],
  ['invalid_client', 'client_refused'],
  ['unauthorized_client', 'client_refused'],
  ['incorrect_client_credentials', 'client_refused'],
  ['invalid_client_id', 'client_refused'],
  ['bad_client_secret', 'client_refused'],
]);
