import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { Connection } from '../connection.ts';
import { refusal } from '../create.ts';
import { ToolServerFault } from '../mcp/fault.ts';
import { checkToolServer } from '../mcp/check.ts';
import type { Provider } from '../providers/index.ts';
import type { AuthorizationServer, OAuthClient } from './authorization-server.ts';
import { discoverServer } from './discovery.ts';
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

/** A managed provider's authorization server. @throws {AppError} `provider_disabled`, `invalid_request` */
export function managedTarget(
  { providers }: Pick<SignInDeps, 'providers'>,
  provider: Provider,
): SignInTarget {
  const auth = oauthOf(provider);
  return {
    server: serverOfProvider(provider),
    client: clientOfProvider(providers, provider),
    discovered: false,
    resource: null,
    scope: auth.scopes.length === 0 ? undefined : auth.scopes.join(auth.scopeSeparator),
    parameters: auth.authorizationParameters,
  };
}

/** Long enough for every metadata document on the way, one after the other. */
const DISCOVERY_TIMEOUT_MS = 10_000;
const MAX_METADATA_BYTES = 1024 * 1024;

/**
 * The authorization server of a tool server, asked for afresh. We are the client that a person gave, now or at an
 * earlier sign-in, else one that we register for this connection.
 * @throws {SignInFault}
 */
export async function discoveredTarget(
  { outbound, uiOrigin }: Pick<SignInDeps, 'outbound' | 'uiOrigin'>,
  input: {
    provider: string;
    draft: Connection;
    givenClient: { readonly id: string; readonly secret: string | undefined } | undefined;
    earlier: Grant | undefined;
  },
): Promise<SignInTarget> {
  const fetch = outbound.fetchWithin({
    timeoutMs: DISCOVERY_TIMEOUT_MS,
    maxResponseBytes: MAX_METADATA_BYTES,
  });
  const { draft, earlier, givenClient } = input;
  if (draft.url === null) throw new SignInFault('no_metadata');
  const found = await discoverServer(fetch, draft.url, await challengeOf(outbound, draft));
  const kept = earlier?.issued;
  const client =
    givenClient !== undefined
      ? { ...givenClient, given: true }
      : kept?.client.given === true && kept.server.issuer === found.server.issuer
        ? kept.client
        : await registerAt(fetch, found, redirectUriOf(uiOrigin, input.provider));
  return { ...found, client, discovered: true, parameters: {} };
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
