import {
  isSameIssuer,
  postAsClient,
  readServerMetadata,
  shownIssuer,
  type TokenDeps,
  type TokenEndpoint,
} from '#core/clients/oauth/index.ts';
import { parseJson } from '#lib/exact-json/parse.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { ProviderFile } from '#lib/provider-file/index.ts';
import { SignInFailure } from '../sign-in/failure.ts';

export type OAuthAuth = Exclude<ProviderFile['auth'], { kind: 'api_key' }>;

/**
 * The authorization server of a provider: some fields come from the provider's file, the rest from discovery at its
 * issuer.
 */
export interface ProviderServer {
  readonly issuer: string | undefined;
  readonly tokenEndpoint: string;
  readonly authorizationEndpoint: string | undefined;
  readonly deviceAuthorizationEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  readonly jwksUri: string | undefined;
  /** True when its responses always contain `iss` (RFC 9207). */
  readonly sendsIssuer: boolean;
}

type Metadata = ReturnType<typeof readServerMetadata>['value'];

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const FRESH_MS = 10 * 60_000;

export type FindServer = (provider: ModelProvider) => Promise<ProviderServer>;

/** Creates the look-up of authorization servers, which remembers their metadata for ten minutes. */
export function createServerDirectory(outbound: Pick<OutboundClient, 'fetchWithin'>): FindServer {
  const discovered = new Map<string, { readonly metadata: Metadata; readonly at: number }>();
  const fetch = outbound.fetchWithin({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES });

  async function discover(issuer: string): Promise<Metadata> {
    const known = discovered.get(issuer);
    if (known !== undefined && performance.now() - known.at < FRESH_MS) return known.metadata;
    const found = await fetchMetadata(fetch, issuer);
    discovered.set(issuer, { metadata: found, at: performance.now() });
    return found;
  }

  return async (provider) => {
    const auth = signInOf(provider);
    const found = auth.issuer === undefined ? undefined : await discover(auth.issuer);
    const tokenEndpoint = auth.tokenEndpoint ?? found?.token_endpoint;
    if (tokenEndpoint === undefined) throw new SignInFailure('provider_unavailable');
    return {
      issuer: auth.issuer,
      tokenEndpoint,
      authorizationEndpoint:
        (auth.kind === 'oauth' ? auth.authorizationEndpoint : undefined) ?? found?.authorization_endpoint,
      deviceAuthorizationEndpoint:
        (auth.kind === 'device_code' ? auth.deviceAuthorizationEndpoint : undefined) ??
        found?.device_authorization_endpoint,
      revocationEndpoint: auth.revocationEndpoint ?? found?.revocation_endpoint,
      jwksUri: found?.jwks_uri,
      sendsIssuer: found?.authorization_response_iss_parameter_supported === true,
    };
  };
}

export function signInOf({ file }: Pick<ModelProvider, 'file'>): OAuthAuth {
  if (file.auth.kind === 'api_key') throw new TypeError('the provider takes keys');
  return file.auth;
}

/**
 * Returns an endpoint of a provider with the client to use there: the operator's client, or a client that the provider
 * has issued.
 */
export function endpointOf(provider: ModelProvider, url: string, clientId: string): TokenEndpoint {
  const { tokenEndpointAuth: authMethod, tokenBody: body, refusals } = signInOf(provider);
  const client = { id: clientId, secret: provider.client?.secret, authMethod };
  return { url, client, authMethods: [authMethod], body, refusals };
}

/** Returns the parameters of every token request of a provider. */
export function tokenParametersOf(provider: ModelProvider): Readonly<Record<string, string>> {
  const { extraTokenParameters, resource } = signInOf(provider);
  return { ...extraTokenParameters, ...(resource === undefined ? {} : { resource }) };
}

/**
 * Hands tokens back to their issuer (RFC 7009): the refresh token, whose revocation also ends the access tokens, or the
 * access token if there is no refresh token.
 * @returns `unsupported` when the provider has no revocation
 * @throws when a later attempt may succeed
 */
export async function revokeTokens(
  deps: { readonly findModelServer: FindServer } & Pick<TokenDeps, 'outbound'>,
  provider: ModelProvider,
  credential: { readonly accessToken: string; readonly refreshToken: string | null; readonly clientId: string },
): Promise<'revoked' | 'unsupported'> {
  const { revocationEndpoint: url } = await deps.findModelServer(provider);
  if (url === undefined) return 'unsupported';
  const { accessToken, refreshToken, clientId } = credential;
  const { status } = await postAsClient(deps, endpointOf(provider, url, clientId), {
    token: refreshToken ?? accessToken,
    token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token',
  });
  if (status !== 200) throw new Error(`status ${status}`);
  return 'revoked';
}

/** Fetches the metadata of an issuer by OpenID Connect Discovery, else by RFC 8414. @throws {SignInFailure} */
async function fetchMetadata(fetch: typeof globalThis.fetch, issuer: string): Promise<Metadata> {
  const base = issuer.replace(/\/$/, '');
  const { origin, pathname } = new URL(base);
  const places = [
    `${base}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`,
  ];
  let another: string | undefined;
  for (const place of places) {
    const { value } = readServerMetadata(await readJson(fetch, place));
    // Refuse metadata of another issuer: its tokens would be accepted as tokens of this issuer (RFC 8414, section 3.3).
    if (value.issuer !== undefined && isSameIssuer(value.issuer, issuer)) return value;
    another ??= value.issuer;
  }
  if (another === undefined) throw new SignInFailure('provider_unavailable');
  throw new SignInFailure(
    'wrong_issuer',
    `The authorization server calls itself ${shownIssuer(another)}, but the provider's file calls it ${issuer}.`,
  );
}

async function readJson(fetch: typeof globalThis.fetch, url: string): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
    });
    const text = await response.text();
    return response.ok ? parseJson(text) : undefined;
  } catch {
    return undefined;
  }
}
