import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { authenticateClient } from '#core/clients/oauth/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { OutboundError } from '#lib/outbound/index.ts';
import type { ConnectionsCore } from './core.ts';
import { issuerOf, openGrant, type Grant } from './oauth/grant.ts';
import type { Connection } from './store/connection.ts';
import { readSealedCredentials } from './store/credentials.ts';
import { lockConnection } from './store/queries.ts';

/** A deleted connection, with its credentials. */
export interface ErasedConnection extends Pick<Connection, 'id' | 'provider' | 'auth'> {
  readonly sealed: string | null;
}

/** Deletes a connection with its credentials and policies. @throws {AppError} `connection_not_found` */
export async function eraseConnection(
  tx: Db,
  projectId: string,
  id: string,
): Promise<{ readonly connection: Connection; readonly sealed: string | null }> {
  const connection = await lockConnection(tx, projectId, id);
  const { credentials: sealed } = await readSealedCredentials(tx, connection);
  await tx.run`delete from connections where id = ${id} and project_id = ${projectId}`;
  return { connection, sealed };
}

/** Deletes every connection of a project that is being deleted, with credentials, policies and open sign-ins. */
export async function eraseConnections(tx: Db, projectId: string): Promise<ErasedConnection[]> {
  await tx.run`delete from oauth_flows where project_id = ${projectId}`;
  return tx.rows<ErasedConnection>`
    delete from connections where project_id = ${projectId}
    returning id, provider, auth, credentials as sealed
  `;
}

/** Revokes the tokens of a deleted connection at their issuer, if there are any. Never throws. */
export async function revokeErased(deps: RevocationDeps, { sealed, ...connection }: ErasedConnection): Promise<void> {
  if (connection.auth !== 'oauth' || sealed === null) return;
  let grant;
  try {
    grant = openGrant(deps, connection, { sealed });
  } catch {
    deps.log.warn({ connectionId: connection.id, detail: 'not readable' }, NOT_REVOKED);
    return;
  }
  await revokeGrant(deps, connection, grant);
}

/** A connection that needs a person to sign in again. */
export interface EndedSignIn {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
}

/**
 * Ends the sign-ins of a person who leaves an organization, in the same transaction; otherwise runs would continue to
 * act for them. The new version of the credentials prevents a running renewal from restoring the old ones.
 */
export async function endSignInsOf(
  tx: Db,
  by: Actor,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<EndedSignIn[]> {
  const ended = await tx.rows<EndedSignIn>`
    update connections c set state = 'needs_reauthorization', public_error = 'person_left', updated_at = now(),
      credentials_version = credentials_version + 1, renewal_lease = null, renewal_leased_until = null
    from projects p
    where p.id = c.project_id and p.organization_id = ${organizationId} and c.auth = 'oauth' and c.state = 'ready'
      and coalesce(c.signed_in_by, c.created_by) = ${userId}
    returning c.id, c.name, c.project_id as "projectId"
  `;
  for (const { id, projectId } of ended) {
    const details = { state: 'needs_reauthorization' };
    await recordProjectAudit(tx, { by, projectId, action: 'connection.changed', targetId: id, details });
  }
  return ended;
}

type RevocationDeps = Pick<ConnectionsCore, 'connectionSecrets' | 'log' | 'outbound' | 'providers'>;

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Revokes the tokens of a deleted connection at their issuer (RFC 7009): the refresh token, whose revocation also ends
 * the access tokens, or the access token if there is no refresh token. Tries once, and logs the result without the
 * provider's words.
 */
export async function revokeGrant(
  deps: RevocationDeps,
  connection: Pick<Connection, 'id' | 'provider'>,
  grant: Grant,
): Promise<void> {
  const { log } = deps;
  const connectionId = connection.id;
  try {
    const status = await revoke(deps, connection, grant);
    if (status === undefined) return;
    if (status === 200) log.info({ connectionId }, 'a sign-in was revoked');
    else log.warn({ connectionId, detail: `status ${status}` }, NOT_REVOKED);
  } catch (error) {
    const known = error instanceof OutboundError || error instanceof AppError;
    log.warn({ connectionId, detail: known ? error.code : 'unexpected' }, NOT_REVOKED);
  }
}

const NOT_REVOKED = 'a sign-in was not revoked';

/** @returns the status of the response; undefined if the server revokes no tokens */
async function revoke(
  { outbound, providers }: RevocationDeps,
  { provider }: Pick<Connection, 'provider'>,
  { issued, accessToken, refreshToken }: Grant,
): Promise<number | undefined> {
  const { server, client } = issuerOf(providers, provider, issued);
  if (server.revocationEndpoint === undefined) return undefined;
  const body = new URLSearchParams({
    token: refreshToken ?? accessToken,
    token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token',
  });
  const headers = new Headers({ accept: 'application/json' });
  authenticateClient(server.tokenEndpointAuthMethods, client, headers, body);
  const fetch = outbound.fetchWithin({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES });
  const url = server.revocationEndpoint;
  // Refuse redirects, which could take the token elsewhere.
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error' });
  await response.body?.cancel();
  return response.status;
}
