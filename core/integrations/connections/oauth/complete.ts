import type { Actor } from '#core/foundation/audit/index.ts';
import { isFromIssuer, requestTokens, TokenError, type Tokens } from '#core/clients/oauth/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { TOOL_SERVER } from '../providers/catalogue.ts';
import { verifyAtToolServer, verifyCredential } from '../providers/accounts.ts';
import { draftConnection, type Connection, type ConnectionDraft } from '../store/connection.ts';
import { withAddress, storeCredentials } from '../store/credentials.ts';
import { insertConnection, readConnection } from '../store/queries.ts';
import { redirectUriOf } from './client.ts';
import { endFlow, findMadeConnection, forgetFlow, takeFlow, type Flow, type Presented } from './flows.ts';
import { grantHeaders, issuerOf, scopesIn, tokenEndpointOf, type Grant } from './grant.ts';
import { SignInError, type SignInDeps } from './sign-in.ts';

/** Parameters with which a provider sends a person back (RFC 6749, section 4.1.2; RFC 9207). */
export interface SignInCallback extends Presented {
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly iss: string | undefined;
  readonly by: Actor;
}

/**
 * Ends a sign-in: redeems the code, tries the tokens and stores them, sealed, in a new connection or in the connection
 * of a repeated sign-in. A repeated return finds the same connection and redeems nothing.
 * @throws {AppError} `attempt_expired` for a state that is old, has failed or belongs to another session; and those of
 * `SignInError`
 */
export async function completeSignIn(deps: SignInDeps, answer: SignInCallback): Promise<Connection> {
  const { database, secrets } = deps;
  const flow = await takeFlow(database, secrets, answer);
  if (flow === undefined) {
    const made = await findMadeConnection(database, answer);
    if (made !== undefined) return readConnection(database, made.projectId, made.connectionId);
    throw new AppError('attempt_expired', 'This sign-in has ended or was not started here; start it again.');
  }
  try {
    const connection = await keep(deps, answer.by, flow, await redeem(deps, flow, answer));
    await endFlow(database, connection, answer.state);
    return connection;
  } catch (error) {
    await forgetFlow(database, flow, answer.state);
    throw error;
  }
}

/** Redeems the authorization code of a return (RFC 6749, section 4.1.3; RFC 7636). @throws {SignInError} */
async function redeem(deps: SignInDeps, flow: Flow, answer: SignInCallback): Promise<Tokens> {
  const issuer = issuerOf(deps.providers, flow.provider, flow.issued);
  if (!isFromIssuer(issuer.server, answer.iss)) throw new SignInError('foreign_response');
  if (answer.error !== undefined) throw new SignInError(answer.error === 'access_denied' ? 'denied' : 'refused');
  if (answer.code === undefined) throw new SignInError('refused');
  try {
    return await requestTokens(deps, tokenEndpointOf(issuer), {
      grant_type: 'authorization_code',
      code: answer.code,
      code_verifier: flow.verifier,
      redirect_uri: redirectUriOf(deps.uiOrigin, answer.callback),
      ...(flow.resource === null ? {} : { resource: flow.resource }),
    });
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    deps.log.warn({ provider: flow.provider, detail: error.answer }, 'a sign-in was not completed');
    throw new SignInError('no_tokens');
  }
}

async function keep(deps: SignInDeps, by: Actor, flow: Flow, tokens: Tokens): Promise<Connection> {
  const { database, connectionSecrets } = deps;
  const connection = await connectionOf(deps, flow);
  const grant: Grant = {
    kind: 'oauth',
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken ?? null,
    issued: flow.issued,
    resource: flow.resource,
  };
  const verified = await verify(deps, connection, grant);
  // Store a new connection in two steps too, so that it cannot be used before its credentials are stored.
  if (flow.connectionId === null) {
    await insertConnection(database, connectionSecrets, by, {
      ...connection,
      server: verified.server,
      state: 'pending_authorization',
      publicError: 'authorization_pending',
      sealedCredentials: null,
    });
  }
  await storeCredentials(database, by, connection, {
    sealed: connectionSecrets.seal(connection.id, grant),
    expiresInSeconds: tokens.expiresInSeconds,
    scopes: scopesIn(tokens.scope ?? flow.scope ?? ''),
    askedScopes: scopesIn(flow.scope ?? ''),
    accountLabel: verified.accountLabel,
  });
  return readConnection(database, connection.projectId, connection.id);
}

async function connectionOf(
  { database, connectionSecrets, providers }: SignInDeps,
  flow: Flow,
): Promise<ConnectionDraft> {
  const { projectId, connectionId, url } = flow;
  if (connectionId !== null) {
    return withAddress(connectionSecrets, await readConnection(database, projectId, connectionId));
  }
  return draftConnection({
    id: newId('connection'),
    projectId,
    to: flow.provider === TOOL_SERVER && url !== null ? { url } : providers.find(flow.provider),
    name: flow.name ?? undefined,
    auth: 'oauth',
    createdBy: flow.userId,
  });
}

async function verify({ outbound, providers, log }: SignInDeps, { provider, url }: ConnectionDraft, grant: Grant) {
  const headers = grantHeaders(grant);
  const verified =
    provider === null
      ? await verifyAtToolServer(outbound, url, headers)
      : await verifyCredential(outbound, providers.find(provider), url, headers);
  if (verified.kind === 'good') return verified;
  log.warn({ provider, kind: verified.kind }, 'a sign-in does not work');
  throw new SignInError('not_verified');
}
