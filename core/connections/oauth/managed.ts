import { AppError } from '#lib/errors.ts';
import type { OAuthProviderAuth, Provider, ProviderCatalogue } from '../providers/index.ts';
import type { AuthorizationServer, OAuthClient } from './authorization-server.ts';
import type { Grant } from './grant.ts';

/** Returns the authorization server of a provider, from its file. */
export function serverOfProvider(provider: Provider): AuthorizationServer {
  const auth = oauthOf(provider);
  return {
    issuer: auth.issuer,
    authorizationEndpoint: auth.authorizationEndpoint,
    tokenEndpoint: auth.tokenEndpoint,
    revocationEndpoint: auth.revocationEndpoint,
    tokenEndpointAuthMethods: [auth.tokenEndpointAuth],
    sendsIssuer: false,
  };
}

/** Returns the client that the operator registered at the provider. @throws {AppError} `provider_disabled` */
export function clientOfProvider(providers: ProviderCatalogue, provider: Provider): OAuthClient {
  const { clientId, clientSecret } = providers.clientOf(provider);
  return {
    id: clientId,
    secret: clientSecret,
    authMethod: oauthOf(provider).tokenEndpointAuth,
    given: true,
  };
}

/**
 * Tells who issued the tokens of a sign-in, and to which client of ours.
 * @throws {AppError} `provider_not_found` and `provider_disabled` where a managed provider is not there any more
 */
export function issuerOf(
  providers: ProviderCatalogue,
  provider: string | null,
  issued: Grant['issued'],
): { readonly server: AuthorizationServer; readonly client: OAuthClient } {
  if (issued !== null) return issued;
  const found = providers.find(provider ?? '');
  return { server: serverOfProvider(found), client: clientOfProvider(providers, found) };
}

/** @throws {AppError} `invalid_request` when the provider connects in another way */
export function oauthOf({ auth }: Provider): OAuthProviderAuth {
  if (auth.kind === 'oauth') return auth;
  throw new AppError('invalid_request', 'provider: connects with an API key, not by signing in');
}
