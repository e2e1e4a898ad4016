import { isHttpsUrl, resolveClientMetadata } from '@modelcontextprotocol/client';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import { TOOL_SERVER, type ProviderCatalogue } from '../providers/index.ts';
import type { OAuthClient } from './authorization-server.ts';
import { redirectUriOf } from './sign-in-deps.ts';

/** Fixed for good: the address is our name at every authorization server that has seen it. */
export const CLIENT_METADATA_PATH = '/oauth/client-metadata.json';

export function clientMetadataUrlOf(publicUrl: string): string {
  return `${publicUrl}${CLIENT_METADATA_PATH}`;
}

/**
 * Describes us to a discovered authorization server (RFC 7591, section 2). We can renew tokens, and have no keys of our
 * own to authenticate with.
 */
export function clientMetadata(redirectUris: string[], authMethod: string) {
  return resolveClientMetadata({
    redirectUrl: redirectUris[0],
    clientMetadata: {
      client_name: 'Routine Automation Service',
      redirect_uris: redirectUris,
      response_types: ['code'],
      token_endpoint_auth_method: authMethod,
    },
  });
}

/**
 * The document behind a client id that is an address (draft-ietf-oauth-client-id-metadata-document): authorization
 * servers read it there in place of a registration. It names every return address that a discovered server can get.
 */
export function clientMetadataDocument(input: {
  publicUrl: string;
  uiOrigin: string;
  providers: ProviderCatalogue;
}) {
  const { publicUrl, uiOrigin, providers } = input;
  const discovered = providers.providers.filter(({ auth }) => auth.kind === 'discovery');
  const callers = [TOOL_SERVER, ...discovered.map(({ id }) => id)];
  return {
    client_id: clientMetadataUrlOf(publicUrl),
    client_uri: publicUrl,
    ...clientMetadata(
      callers.map((id) => redirectUriOf(uiOrigin, id)),
      'none',
    ),
  };
}

/**
 * Makes the address of our document our client id. Not without https, which the draft demands, nor at an address that
 * no server out there can read: unlike with a registration, that would show only once a person has been sent away.
 */
export function clientByMetadata(
  outbound: Pick<OutboundClient, 'checkUrl'>,
  url: string,
): OAuthClient | undefined {
  if (!isHttpsUrl(url)) return undefined;
  try {
    outbound.checkUrl(url);
  } catch (error) {
    if (error instanceof OutboundError) return undefined;
    throw error;
  }
  return { id: url, authMethod: 'none', given: false };
}
