import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
} from '@modelcontextprotocol/client';
import { z } from 'zod';

/** What a sign-in and its renewals need to know of an authorization server. */
export const authorizationServer = z.strictObject({
  /** Absent of a managed provider that names none. */
  issuer: z.string().optional(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  /** Where it takes tokens back (RFC 7009), if it does. */
  revocationEndpoint: z.string().optional(),
  /** As the server lists them; empty when it does not. */
  tokenEndpointAuthMethods: z.array(z.string()),
  /** Whether its answers always carry `iss` (RFC 9207). */
  sendsIssuer: z.boolean(),
});
export type AuthorizationServer = z.output<typeof authorizationServer>;

/** What we are to an authorization server. */
export const oauthClient = z.strictObject({
  id: z.string(),
  secret: z.string().optional(),
  authMethod: z.string().optional(),
  /** Whether a person gave it, so that it outlives the sign-in; else it is settled anew by each. */
  given: z.boolean(),
});
export type OAuthClient = z.output<typeof oauthClient>;

/** The server as the MCP client library has it (RFC 8414). */
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

/** The client as the library has it. */
export function clientInformationOf(client: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: client.id,
    ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    ...(client.authMethod === undefined ? {} : { token_endpoint_auth_method: client.authMethod }),
  };
}
