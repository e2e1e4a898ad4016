import { AppError } from '#lib/errors.ts';
import type { OAuthProviderAuth, Provider, ProviderCatalogue } from '../providers/index.ts';
import type { AuthorizationServer, OAuthClient } from './authorization-server.ts';

/** The authorization server of a provider, from its file. */
export function serverOfProvider(provider: Provider): AuthorizationServer {
  const auth = oauthOf(provider);
  return {
    issuer: auth.issuer,
    authorizationEndpoint: auth.authorizationEndpoint,
    tokenEndpoint: auth.tokenEndpoint,
    tokenEndpointAuthMethods: [auth.tokenEndpointAuth],
    sendsIssuer: false,
  };
}

/** What the operator registered at the provider. @throws {AppError} `provider_disabled` */
export function clientOfProvider(providers: ProviderCatalogue, provider: Provider): OAuthClient {
  const { clientId, clientSecret } = providers.clientOf(provider);
  return {
    id: clientId,
    secret: clientSecret,
    authMethod: oauthOf(provider).tokenEndpointAuth,
    given: true,
  };
}

/** @throws {AppError} `invalid_request` when the provider connects in another way */
export function oauthOf({ auth }: Provider): OAuthProviderAuth {
  if (auth.kind === 'oauth') return auth;
  throw new AppError('invalid_request', 'provider: connects with an API key, not by signing in');
}
