import {
  type AuthorizationServerMetadata,
  type OAuthClientInformationMixed,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isSameIssuer, readableDocuments, shownIssuer } from '#core/clients/oauth/index.ts';
import type { Log } from '#lib/log.ts';
import { OutboundError } from '#lib/outbound/index.ts';
import { SignInError } from './sign-in.ts';

/** Fields of an authorization server that a sign-in and its renewals use. */
export const authorizationServer = z.strictObject({
  /** Issuer of the server; absent for a managed provider that names none. */
  issuer: z.string().optional(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  /** The endpoint that revokes tokens (RFC 7009), if there is one. */
  revocationEndpoint: z.string().optional(),
  /** The ways to authenticate a client that the server lists; empty when the server lists none. */
  tokenEndpointAuthMethods: z.array(z.string()),
  /** True when its responses always contain `iss` (RFC 9207). */
  sendsIssuer: z.boolean(),
});
export type AuthorizationServer = z.output<typeof authorizationServer>;

/** This service's client at an authorization server. */
export const oauthClient = z.strictObject({
  id: z.string(),
  secret: z.string().optional(),
  authMethod: z.string().optional(),
  /**
   * True for a client that a person entered: the client is used for later sign-ins too. Any other client is chosen
   * again at each sign-in.
   */
  given: z.boolean(),
});
export type OAuthClient = z.output<typeof oauthClient>;

/** Describes the server in the form of the MCP client library (RFC 8414). */
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

/** Describes the client in the form of the MCP client library. */
export function clientInformationOf(client: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: client.id,
    ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    ...(client.authMethod === undefined ? {} : { token_endpoint_auth_method: client.authMethod }),
  };
}

/** The way to sign in to a tool server, as the server and its authorization server describe it. */
export interface DiscoveredServer {
  readonly server: AuthorizationServer;
  readonly metadata: AuthorizationServerMetadata;
  /** Resource that every request to the authorization server names (RFC 8707); null for an older tool server. */
  readonly resource: string | null;
  readonly scope: string | undefined;
}

/**
 * Follows the MCP authorization specification from a tool server's 401 to its authorization server: protected resource
 * metadata (RFC 9728), then authorization server metadata (RFC 8414, or OpenID Connect Discovery). Outside servers name
 * every address on the way, so `fetch` must be the guarded client's.
 * @throws {SignInError}
 */
export async function discoverServer(
  { fetch, log }: { readonly fetch: typeof globalThis.fetch; readonly log: Pick<Log, 'warn'> },
  url: string,
  challenge: string | undefined,
): Promise<DiscoveredServer> {
  const asked = readChallenge(challenge);
  const documents = readableDocuments(fetch, url, (fields) => {
    log.warn({ host: new URL(url).host, fields }, 'fields of the metadata for signing in were left out');
  });
  const described = await orUndefined(() =>
    discoverOAuthProtectedResourceMetadata(
      url,
      asked.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: asked.resourceMetadataUrl },
      documents.ofResource,
    ),
  );
  const metadata =
    described === undefined
      ? await ownMetadata(documents.ofServer, url)
      : await metadataFor(documents.ofServer, url, described);
  if (metadata === undefined) throw new SignInError('no_metadata');
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) throw new SignInError('no_pkce');
  // Read the endpoint past the type, which leaves it out because OpenID Connect Discovery has none.
  const { revocation_endpoint: revocation }: Readonly<Record<string, unknown>> = metadata;
  return {
    metadata,
    server: {
      issuer: metadata.issuer,
      authorizationEndpoint: metadata.authorization_endpoint,
      tokenEndpoint: metadata.token_endpoint,
      revocationEndpoint: typeof revocation === 'string' ? revocation : undefined,
      tokenEndpointAuthMethods: metadata.token_endpoint_auth_methods_supported ?? [],
      sendsIssuer: metadata.authorization_response_iss_parameter_supported === true,
    },
    resource: described?.resource ?? null,
    scope: scopeOf(asked.scope ?? described?.scopes_supported?.join(' '), metadata),
  };
}

function readChallenge(challenge: string | undefined): ReturnType<typeof extractWWWAuthenticateParams> {
  if (challenge === undefined) return {};
  const headers = { 'www-authenticate': challenge };
  return extractWWWAuthenticateParams(new Response(null, { status: 401, headers }));
}

/** Reads the metadata of the first authorization server that the tool server names. */
async function metadataFor(
  fetch: typeof globalThis.fetch,
  url: string,
  described: OAuthProtectedResourceMetadata,
): Promise<AuthorizationServerMetadata | undefined> {
  assertOwnResource(url, described);
  const named = described.authorization_servers?.[0] ?? new URL('/', url).href;
  const metadata = await readMetadata(fetch, named);
  if (metadata !== undefined && !isSameIssuer(metadata.issuer, named)) {
    throw SignInError.wrongIssuer(shownIssuer(metadata.issuer), shownIssuer(named));
  }
  return metadata;
}

/**
 * Reads the metadata of a tool server of the 2025-03-26 specification. Such a server is its own authorization server,
 * and its issuer may have a path.
 */
async function ownMetadata(
  fetch: typeof globalThis.fetch,
  url: string,
): Promise<AuthorizationServerMetadata | undefined> {
  const root = new URL('/', url).href;
  const metadata = await readMetadata(fetch, root);
  if (metadata !== undefined && URL.parse(metadata.issuer)?.origin !== new URL(url).origin) {
    throw SignInError.wrongIssuer(shownIssuer(metadata.issuer), shownIssuer(root));
  }
  return metadata;
}

/**
 * Reads metadata without comparing the issuer. The library would compare each character, so the callers compare issuers
 * themselves.
 */
function readMetadata(
  fetch: typeof globalThis.fetch,
  issuer: string,
): Promise<AuthorizationServerMetadata | undefined> {
  return orUndefined(() => discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch, skipIssuerValidation: true }));
}

/** Refuses the resource of another server: the tokens would be valid at that server (RFC 9728, section 3.3). */
function assertOwnResource(url: string, { resource }: OAuthProtectedResourceMetadata): void {
  // The same address with a slash at its end means the same resource.
  const isOwn =
    URL.canParse(resource) &&
    checkResourceAllowed({ requestedResource: url, configuredResource: resource.replace(/\/$/, '') });
  if (!isOwn) throw new SignInError('foreign_resource');
}

function scopeOf(
  scope: string | undefined,
  { scopes_supported: known }: AuthorizationServerMetadata,
): string | undefined {
  if (scope === undefined || scope === '') return undefined;
  const offline = known?.includes('offline_access') === true;
  return offline && !scope.split(' ').includes('offline_access') ? `${scope} offline_access` : scope;
}

async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof OutboundError) throw SignInError.of(error);
    // The document is missing or malformed.
    return undefined;
  }
}
