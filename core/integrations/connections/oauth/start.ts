import { randomBytes } from 'node:crypto';
import { startAuthorization } from '@modelcontextprotocol/client';
import { assertMayBeginSignIn } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import { TOOL_SERVER } from '../providers/catalogue.ts';
import { draftConnection, type Connection, type ConnectionDraft } from '../store/connection.ts';
import { withAddress } from '../store/credentials.ts';
import { assertRoomForConnection, readConnection } from '../store/queries.ts';
import { clientInformationOf, metadataOf } from './authorization-server.ts';
import { callbackOf, redirectUriOf } from './client.ts';
import { insertFlow, type FlowOwner } from './flows.ts';
import { openGrant, readStoredGrant } from './grant.ts';
import { SignInError, type SignInDeps } from './sign-in.ts';
import { discoveredTarget, managedTarget, type EarlierSignIn, type SignInTarget } from './target.ts';

export interface SignInRequest extends Pick<FlowOwner, 'projectId' | 'userId' | 'sessionId' | 'provider'> {
  /** Connection to sign in to again; undefined for a new connection. */
  readonly connectionId: string | undefined;
  readonly name: string | undefined;
  /** Address of the user's own tool server, for a new connection. */
  readonly url: string | undefined;
  /** Client that the person registered at a discovered authorization server. */
  readonly client: { readonly id: string; readonly secret: string | undefined } | undefined;
}

export interface StartedSignIn {
  /** The page that the person's browser goes to next. */
  readonly authorizationUrl: string;
  /** Host of the authorization page, to be checked before a person types a password there. */
  readonly host: string;
  readonly redirectUri: string;
  readonly expiresAt: Date;
}

/**
 * Begins a sign-in: an authorization request with PKCE (RFC 7636, S256 only), a state for one use, and a return address
 * at this service.
 * @throws {AppError} `provider_not_found`, `provider_disabled`, `connection_not_found`, `limit_reached`,
 * `rate_limited`, and those of `SignInError`
 */
export async function startSignIn(deps: SignInDeps, request: SignInRequest): Promise<StartedSignIn> {
  const { projectId, userId, sessionId, provider, connectionId } = request;
  const connection =
    connectionId === undefined
      ? undefined
      : withAddress(deps.connectionSecrets, await readConnection(deps.database, projectId, connectionId));
  const draft = connection ?? newDraft(deps, request);
  assertSameKind(request, draft);
  if (connection === undefined) await assertRoomForConnection(deps.database, draft);
  await assertMayBeginSignIn(deps.database, userId, 'connections');

  const target = await targetOf(deps, request, draft, connection);
  const callback = callbackOf(provider, target.server.issuer);
  const redirectUri = redirectUriOf(deps.uiOrigin, callback);
  // The state must not be guessable (RFC 6749, section 10.12).
  const state = randomBytes(32).toString('base64url');
  const { authorizationUrl, codeVerifier } = await authorizationRequest(target, redirectUri, state);
  const fault = deps.outbound.urlFault(authorizationUrl) ?? deps.outbound.urlFault(target.server.tokenEndpoint);
  if (fault !== undefined) throw SignInError.of(fault);
  const expiresAt = await insertFlow(
    deps.database,
    deps.secrets,
    state,
    { projectId, userId, sessionId, provider, connectionId: connectionId ?? null, name: draft.name },
    {
      verifier: codeVerifier,
      issued: target.discovered ? { server: target.server, client: target.client } : null,
      url: draft.url,
      resource: target.resource,
      scope: target.scope ?? null,
    },
  );
  const { href, host } = authorizationUrl;
  return { authorizationUrl: href, host, redirectUri, expiresAt };
}

function newDraft({ providers }: SignInDeps, request: SignInRequest): ConnectionDraft {
  const { projectId, provider, url, name, userId: createdBy } = request;
  const draft = { id: '', projectId, name, auth: 'oauth', createdBy } as const;
  if (provider !== TOOL_SERVER) return draftConnection({ ...draft, to: providers.find(provider) });
  if (url === undefined) throw new AppError('invalid_request', 'url: required, unless connectionId names a connection');
  return draftConnection({ ...draft, to: { url } });
}

/**
 * Checks that a repeated sign-in is at the connection's provider. Each provider has a separate callback, so a
 * connection cannot change its provider.
 */
function assertSameKind(request: SignInRequest, draft: ConnectionDraft): void {
  const provider = draft.kind === 'managed' ? draft.provider : TOOL_SERVER;
  if (provider !== request.provider) {
    throw new AppError('invalid_request', 'connectionId: the connection is at another provider');
  }
  if (draft.auth !== 'oauth') {
    throw new AppError('invalid_request', 'connectionId: the connection does not use a sign-in');
  }
}

async function targetOf(
  deps: SignInDeps,
  request: SignInRequest,
  draft: ConnectionDraft,
  connection: Connection | undefined,
): Promise<SignInTarget> {
  const provider = draft.provider === null ? undefined : deps.providers.find(draft.provider);
  const earlier = connection === undefined ? undefined : await earlierSignIn(deps, connection);
  if (provider !== undefined && provider.auth.kind !== 'discovery') {
    return managedTarget(deps, provider, earlier);
  }
  return discoveredTarget(deps, {
    provider: request.provider,
    url: draft.url,
    givenClient: request.client,
    earlier,
  });
}

async function earlierSignIn(deps: SignInDeps, connection: Connection): Promise<EarlierSignIn> {
  const stored = await readStoredGrant(deps.database, connection);
  const issued = stored.sealed === null ? null : openGrant(deps, connection, stored).issued;
  return { issued, scopes: stored.scopes, demandedScopes: stored.demandedScopes };
}

/** Returns the address of the authorization request (RFC 6749, section 4.1.1) and its verifier (RFC 7636). */
export async function authorizationRequest(
  { server, client, scope, resource, parameters }: SignInTarget,
  redirectUri: string,
  state: string,
) {
  try {
    const started = await startAuthorization(server.tokenEndpoint, {
      metadata: metadataOf(server),
      clientInformation: clientInformationOf(client),
      redirectUrl: redirectUri,
      state,
      ...(scope === undefined ? {} : { scope }),
      ...(resource === null ? {} : { resource }),
    });
    for (const [name, value] of Object.entries(parameters)) {
      started.authorizationUrl.searchParams.set(name, value);
    }
    return started;
  } catch {
    throw new SignInError('no_metadata');
  }
}
