import { isHttpsUrl, resolveClientMetadata } from '@modelcontextprotocol/client';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import { TOOL_SERVER, type ProviderCatalogue } from '../providers/index.ts';
import type { OAuthClient } from './authorization-server.ts';
import { isIssuerCallback, redirectUriOf } from './callback.ts';

/**
 * Returns the address of our document for a callback. Addresses are fixed for good: each is our name at every
 * authorization server that has seen it. Issuers of tool servers have one each, because the document names the return
 * address; the first one serves all others, and the sign-ins of before issuers had their own.
 */
export function clientMetadataUrlOf(publicUrl: string): (callback: string) => string {
  return (callback) =>
    `${publicUrl}/oauth/client-metadata${isIssuerCallback(callback) ? `/${callback}` : ''}.json`;
}

/** Lists the callbacks of the document at this path; undefined where there is none. */
function callbacksAt(path: string, providers: ProviderCatalogue): string[] | undefined {
  const match = /^\/oauth\/client-metadata(?:\/([^/]+))?\.json$/.exec(path);
  if (match === null) return undefined;
  const [, callback] = match;
  if (callback !== undefined) return isIssuerCallback(callback) ? [callback] : undefined;
  const discovered = providers.providers.filter(({ auth }) => auth.kind === 'discovery');
  return [TOOL_SERVER, ...discovered.map(({ id }) => id)];
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
 * Makes the document behind a client id that is an address (draft-ietf-oauth-client-id-metadata-document):
 * authorization servers read it there in place of a registration. It names the return addresses that go with that
 * client id. Undefined where no document is.
 */
export function clientMetadataDocument(
  path: string,
  input: { publicUrl: string; uiOrigin: string; providers: ProviderCatalogue },
) {
  const { publicUrl, uiOrigin, providers } = input;
  const callbacks = callbacksAt(path, providers);
  if (callbacks === undefined) return undefined;
  return {
    client_id: `${publicUrl}${path}`,
    client_uri: publicUrl,
    ...clientMetadata(
      callbacks.map((name) => redirectUriOf(uiOrigin, name)),
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
