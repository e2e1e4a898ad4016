import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import { revokeStored, type RevocationDeps } from './oauth/revoke.ts';
import type { Connection } from './store/connection.ts';
import { readSealedCredentials } from './store/credentials.ts';
import { lockConnection } from './store/queries.ts';

/** A connection that is gone, with what it could sign in with. */
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
  await execute(tx, sql`delete from connections where id = ${id} and project_id = ${projectId}`);
  return { connection, sealed };
}

/** Deletes every connection of a project that is being deleted, credentials, policies, sign-ins under way and all. */
export async function eraseConnections(tx: Db, projectId: string): Promise<ErasedConnection[]> {
  await execute(tx, sql`delete from oauth_flows where project_id = ${projectId}`);
  return rows<ErasedConnection>(
    tx,
    sql`
      delete from connections where project_id = ${projectId}
      returning id, provider, auth, credentials as sealed
    `,
  );
}

/** Hands the tokens of an erased connection back to their issuer, where there are any. Never throws. */
export async function revokeErased(
  deps: RevocationDeps,
  { sealed, ...connection }: ErasedConnection,
): Promise<void> {
  if (connection.auth === 'oauth' && sealed !== null) await revokeStored(deps, connection, sealed);
}

/** A connection that needs a person to sign in again. */
export interface EndedSignIn {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
}

/**
 * Ends the sign-ins of a person who leaves an organization, in the transaction of that: runs would go on acting as
 * them. The new version of the credentials keeps a renewal that is under way from bringing them back.
 */
export async function endSignInsOf(
  tx: Db,
  by: Actor,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<EndedSignIn[]> {
  const ended = await rows<EndedSignIn>(
    tx,
    sql`
      update connections c set state = 'needs_reauthorization', public_error = 'person_left', updated_at = now(),
        credentials_version = credentials_version + 1, renewal_lease = null, renewal_leased_until = null
      from projects p
      where p.id = c.project_id and p.organization_id = ${organizationId} and c.auth = 'oauth' and c.state = 'ready'
        and coalesce(c.signed_in_by, c.created_by) = ${userId}
      returning c.id, c.name, c.project_id as "projectId"
    `,
  );
  for (const { id, projectId } of ended) {
    const entry = { by, projectId, targetId: id, details: { state: 'needs_reauthorization' } };
    await recordProjectAudit(tx, { ...entry, action: 'connection.changed' });
  }
  return ended;
}
