import { z } from 'zod';
import { AppError } from '#lib/errors.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import type { OAuthProviderAuth, Provider } from '../providers/provider.ts';
import type { ConnectionSecrets } from '../store/credentials.ts';
import {
  authorizationServer,
  oauthClient,
  type AuthorizationServer,
  type OAuthClient,
} from './authorization-server.ts';

/** The tokens of a connection that a person signed in to, as they are sealed. */
export const grant = z.strictObject({
  kind: z.literal('oauth'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** The discovered server and our client there; null for a managed provider, whose file and configuration say it. */
  issued: z.strictObject({ server: authorizationServer, client: oauthClient }).nullable(),
  /** The resource indicator (RFC 8707) that the tokens were asked for. */
  resource: z.string().nullable(),
});
export type Grant = z.output<typeof grant>;

/** Opens a grant as it is stored. @throws {AppError} `connection_not_ready` when there is none */
export function openGrant(
  { connectionSecrets }: { readonly connectionSecrets: ConnectionSecrets },
  connection: { readonly id: string },
  { sealed }: { readonly sealed: string | null },
): Grant {
  if (sealed === null) throw new AppError('connection_not_ready');
  return grant.parse(connectionSecrets.open(connection.id, sealed));
}

/** Makes the headers that authenticate a request. */
export function grantHeaders({ accessToken }: Pick<Grant, 'accessToken'>): Record<string, string> {
  return { authorization: `Bearer ${accessToken}` };
}

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
