import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import {
  clientInformationOf,
  type AuthorizationServer,
  type OAuthClient,
} from './authorization-server.ts';

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
