import { computeScopeUnion } from '@modelcontextprotocol/client';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { Connection } from '../connection.ts';
import { refusal } from '../create.ts';
import { ToolServerFault } from '../mcp/fault.ts';
import { checkToolServer } from '../mcp/check.ts';
import type { Provider } from '../providers/index.ts';
import type { AuthorizationServer, OAuthClient } from './authorization-server.ts';
import { clientByMetadata } from './client-metadata.ts';
import { discoverServer, type DiscoveredServer } from './discovery.ts';
import { SignInFault } from './fault.ts';
import type { Grant } from './grant.ts';
import { clientOfProvider, oauthOf, serverOfProvider } from './managed.ts';
import { registerAt } from './registration.ts';
import { redirectUriOf, type SignInDeps } from './sign-in-deps.ts';

/** Where a sign-in goes, and as whom. */
export interface SignInTarget {
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  /** Whether server and client were learned on the way, and have to be kept with the grant. */
  readonly discovered: boolean;
  readonly resource: string | null;
  readonly scope: string | undefined;
  /** Added to the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What the sign-in before this one left in the connection. */
export interface EarlierSignIn {
  readonly issued: Grant['issued'];
  readonly scopes: readonly string[];
  /** What a server has asked for since. */
  readonly demandedScopes: readonly string[];
}

/** A managed provider's authorization server. @throws {AppError} `provider_disabled`, `invalid_request` */
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

/** Long enough for every metadata document on the way, one after the other. */
const DISCOVERY_TIMEOUT_MS = 10_000;
const MAX_METADATA_BYTES = 1024 * 1024;

type GivenClient = { readonly id: string; readonly secret: string | undefined };
type DiscoveryDeps = Pick<SignInDeps, 'outbound' | 'uiOrigin' | 'clientMetadataUrl'>;

/** The authorization server of a tool server, asked for afresh. @throws {SignInFault} */
export async function discoveredTarget(
  deps: DiscoveryDeps,
  input: {
    provider: string;
    draft: Connection;
    givenClient: GivenClient | undefined;
    earlier: EarlierSignIn | undefined;
  },
): Promise<SignInTarget> {
  const { outbound } = deps;
  const fetch = outbound.fetchWithin({
    timeoutMs: DISCOVERY_TIMEOUT_MS,
    maxResponseBytes: MAX_METADATA_BYTES,
  });
  const { draft, earlier } = input;
  if (draft.url === null) throw new SignInFault('no_metadata');
  const described = await discoverServer(fetch, draft.url, await challengeOf(outbound, draft));
  const isSameIssuer = earlier?.issued?.server.issuer === described.server.issuer;
  // What was granted is asked for again, as the new tokens take the place of the old ones.
  const { demandedScopes: demanded = [], scopes = [] } = earlier ?? {};
  const granted = isSameIssuer && demanded.length > 0 ? scopes : [];
  const scope = computeScopeUnion(described.scope, granted.join(' '), demanded.join(' '));
  const found = { ...described, scope };
  const client = await clientAt(deps, fetch, found, {
    redirectUri: redirectUriOf(deps.uiOrigin, input.provider),
    given: input.givenClient,
    kept: isSameIssuer ? earlier?.issued?.client : undefined,
  });
  return { ...found, client, discovered: true, parameters: {} };
}

/**
 * Who we are there, in the order of the MCP specification: the client that a person gave, now or at an earlier sign-in;
 * the one that our metadata document describes; else one that we register for this connection.
 */
async function clientAt(
  { outbound, clientMetadataUrl }: DiscoveryDeps,
  fetch: typeof globalThis.fetch,
  found: DiscoveredServer,
  input: { redirectUri: string; given: GivenClient | undefined; kept: OAuthClient | undefined },
): Promise<OAuthClient> {
  const { given, kept, redirectUri } = input;
  if (given !== undefined) return { ...given, given: true };
  if (kept?.given === true) return kept;
  const readsMetadata = found.metadata.client_id_metadata_document_supported === true;
  const described = readsMetadata ? clientByMetadata(outbound, clientMetadataUrl) : undefined;
  return described ?? registerAt(fetch, found, redirectUri);
}

/** What the tool server says to a request without credentials, as it would to any (RFC 9728, section 5.1). */
async function challengeOf(
  outbound: OutboundClient,
  draft: Connection,
): Promise<string | undefined> {
  const credentials = { headers: async () => ({}), refused: async () => undefined };
  try {
    await checkToolServer({ outbound, credentials }, draft);
  } catch (error) {
    if (!(error instanceof ToolServerFault)) throw error;
    if (error.kind === 'sign_in') return error.challenge;
    throw refusal(error);
  }
  // A server that lets anyone in may still want a sign-in for its tools; its metadata will say.
  return undefined;
}

/** @throws {SignInFault} when neither a person nor we may be sent there */
export function assertAllowed(outbound: OutboundClient, url: string): void {
  try {
    outbound.checkUrl(url);
  } catch (error) {
    throw error instanceof OutboundError ? SignInFault.of(error) : error;
  }
}
