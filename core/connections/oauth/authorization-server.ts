import {
  selectClientAuthMethod,
  type AuthorizationServerMetadata,
  type OAuthClientInformationMixed,
} from '@modelcontextprotocol/client';
import { z } from 'zod';

/** An authorization server, as far as a sign-in and its renewals need to know it. */
export const authorizationServer = z.strictObject({
  /** Absent for a managed provider that names none. */
  issuer: z.string().optional(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  /** The endpoint that takes tokens back (RFC 7009), if there is one. */
  revocationEndpoint: z.string().optional(),
  /** The methods that the server lists; empty when it lists none. */
  tokenEndpointAuthMethods: z.array(z.string()),
  /** True when its responses always carry `iss` (RFC 9207). */
  sendsIssuer: z.boolean(),
});
export type AuthorizationServer = z.output<typeof authorizationServer>;

/** Our client at an authorization server. */
export const oauthClient = z.strictObject({
  id: z.string(),
  secret: z.string().optional(),
  authMethod: z.string().optional(),
  /** True when a person gave it, so that it outlives the sign-in; each sign-in settles any other again. */
  given: z.boolean(),
});
export type OAuthClient = z.output<typeof oauthClient>;

/** Describes the server as the MCP client library has it (RFC 8414). */
export function metadataOf(server: AuthorizationServer): AuthorizationServerMetadata {
  return {
    issuer: server.issuer ?? new URL(server.tokenEndpoint).origin,
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    token_endpoint_auth_methods_supported: server.tokenEndpointAuthMethods,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: server.sendsIssuer,
  };
}

/** Describes the client as the library has it. */
export function clientInformationOf(client: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: client.id,
    ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    ...(client.authMethod === undefined ? {} : { token_endpoint_auth_method: client.authMethod }),
  };
}

/** Authenticates us as the client library does at the token endpoint (RFC 6749, section 2.3.1). */
export function authenticateClient(
  server: Pick<AuthorizationServer, 'tokenEndpointAuthMethods'>,
  client: OAuthClient,
  headers: Headers,
  body: URLSearchParams,
): void {
  const { id, secret = '' } = client;
  const method = selectClientAuthMethod(clientInformationOf(client), [
    ...server.tokenEndpointAuthMethods,
  ]);
  if (method === 'client_secret_basic') {
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`);
    return;
  }
  body.set('client_id', id);
  if (method === 'client_secret_post') body.set('client_secret', secret);
}
