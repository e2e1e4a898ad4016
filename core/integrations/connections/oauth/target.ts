import { computeScopeUnion } from '@modelcontextprotocol/client';
import { checkToolServer, fixedCredentials, ToolServerError } from '#core/clients/mcp/index.ts';
import { isSameIssuer } from '#core/clients/oauth/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { Provider } from '../providers/catalogue.ts';
import { refusal } from '../tool-servers/create.ts';
import {
  type AuthorizationServer,
  type OAuthClient,
  discoverServer,
  type DiscoveredServer,
} from './authorization-server.ts';
import { callbackOf, clientByMetadata, redirectUriOf, registerAt } from './client.ts';
import { clientOfProvider, oauthOf, serverOfProvider, type Grant } from './grant.ts';
import { SignInError, type SignInDeps } from './sign-in.ts';

/** The authorization server of a sign-in, and this service's client there. */
export interface SignInTarget {
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  /** True when discovery found server and client, which are then stored with the grant. */
  readonly discovered: boolean;
  readonly resource: string | null;
  readonly scope: string | undefined;
  /** Parameters that are added to the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The part of a connection that an earlier sign-in stored. */
export interface EarlierSignIn {
  readonly issued: Grant['issued'];
  readonly scopes: readonly string[];
  /** The scopes that the tool server has demanded since. */
  readonly demandedScopes: readonly string[];
}

/** Returns a managed provider's authorization server. @throws {AppError} `provider_disabled`, `invalid_request` */
export function managedTarget(
  { providers }: Pick<SignInDeps, 'providers'>,
  provider: Provider,
  earlier: EarlierSignIn | undefined,
): SignInTarget {
  const auth = oauthOf(provider);
  const scopes = new Set([...auth.scopes, ...(earlier?.demandedScopes ?? [])]);
  return {
    server: serverOfProvider(provider),
    client: clientOfProvider(providers, provider),
    discovered: false,
    resource: null,
    scope: scopes.size === 0 ? undefined : [...scopes].join(auth.scopeSeparator),
    parameters: auth.authorizationParameters,
  };
}

/** Time limit for reading all metadata documents, one after the other. */
const DISCOVERY_TIMEOUT_MS = 10_000;
const MAX_METADATA_BYTES = 1024 * 1024;

interface GivenClient {
  readonly id: string;
  readonly secret: string | undefined;
}
type DiscoveryDeps = Pick<SignInDeps, 'clientMetadataUrl' | 'log' | 'outbound' | 'uiOrigin'>;

/** Discovers the authorization server of a tool server. @throws {SignInError} */
export async function discoveredTarget(
  deps: DiscoveryDeps,
  input: {
    provider: string;
    /** The address of the tool server; null when a provider has none. */
    url: string | null;
    givenClient: GivenClient | undefined;
    earlier: EarlierSignIn | undefined;
  },
): Promise<SignInTarget> {
  const { outbound, log } = deps;
  const fetch = outbound.fetchWithin({
    timeoutMs: DISCOVERY_TIMEOUT_MS,
    maxResponseBytes: MAX_METADATA_BYTES,
  });
  const { url, earlier } = input;
  if (url === null) throw new SignInError('no_metadata');
  const described = await discoverServer({ fetch, log }, url, await challengeOf(outbound, url));
  const isSame = isSameIssuer(earlier?.issued?.server.issuer ?? '', described.server.issuer ?? '');
  // Request the granted scopes again, because the new tokens replace the old ones.
  const { demandedScopes: demanded = [], scopes = [] } = earlier ?? {};
  const granted = isSame && demanded.length > 0 ? scopes : [];
  const scope = computeScopeUnion(described.scope, granted.join(' '), demanded.join(' '));
  const found = { ...described, scope };
  const client = await clientAt(deps, fetch, found, {
    callback: callbackOf(input.provider, found.server.issuer),
    given: input.givenClient,
    kept: isSame ? earlier?.issued?.client : undefined,
  });
  return { ...found, client, discovered: true, parameters: {} };
}

/**
 * Chooses the client, in the order of the MCP specification: the client that a person gave, now or earlier; the
 * metadata document; else a new registration for the connection.
 */
async function clientAt(
  { outbound, uiOrigin, clientMetadataUrl, log }: DiscoveryDeps,
  fetch: typeof globalThis.fetch,
  found: DiscoveredServer,
  input: { callback: string; given: GivenClient | undefined; kept: OAuthClient | undefined },
): Promise<OAuthClient> {
  const { given, kept, callback } = input;
  if (given !== undefined) return { ...given, given: true };
  if (kept?.given === true) return kept;
  const readsMetadata = found.metadata.client_id_metadata_document_supported === true;
  const described = readsMetadata ? clientByMetadata(outbound, clientMetadataUrl(callback)) : undefined;
  return described ?? registerAt({ fetch, log }, found, redirectUriOf(uiOrigin, callback));
}

/** Asks the tool server for its challenge by a request without credentials (RFC 9728, section 5.1). */
async function challengeOf(outbound: OutboundClient, url: string): Promise<string | undefined> {
  try {
    await checkToolServer({ outbound }, { url, credentials: fixedCredentials({}) });
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    if (error.isDenial) return error.challenge;
    throw refusal(error);
  }
  // A server that accepts a request without credentials may still demand a sign-in for its tools, and say so in its
  // metadata.
  return undefined;
}
