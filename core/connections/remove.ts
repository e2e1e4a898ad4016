import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import { execute, rows, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { revokeStored, type RevocationDeps } from './oauth/revoke.ts';
import type { Connection } from './store/connection.ts';
import { readSealedCredentials } from './store/credentials.ts';
import { lockConnection } from './store/queries.ts';

export interface RemovedConnection {
  readonly connection: Connection;
  /** Routines that went back to draft because they used it. */
  readonly routineIds: readonly string[];
}

/**
 * Deletes a connection with its credentials and policies. Routines with a tool of it that was automatic can no longer
 * do what was proved of them, so they go back to draft and say why. A sign-in is revoked at its provider afterwards;
 * the caller does not wait for that, as the credentials are already gone here.
 * @throws {AppError} `connection_not_found`
 */
export async function deleteConnection(
  deps: RevocationDeps & { readonly database: Database; readonly routineEditor: RoutineEditor },
  projectId: string,
  id: string,
  by: Actor,
): Promise<RemovedConnection> {
  const { sealed, ...removed } = await remove(deps, projectId, id, by);
  void revokeErased(deps, { ...removed.connection, sealed });
  return removed;
}

function remove(
  { database, routineEditor }: { database: Database; routineEditor: RoutineEditor },
  projectId: string,
  id: string,
  by: Actor,
): Promise<RemovedConnection & { readonly sealed: string | null }> {
  return transaction(database, async (tx) => {
    // Routines before the connection, as discovery takes them, so that the two cannot wait for each other.
    const users = await routineEditor.holdUsersOf(tx, projectId, id);
    const connection = await lockConnection(tx, projectId, id);
    const reason = `the connection "${connection.name}" that it used was deleted`;
    const { credentials: sealed } = await readSealedCredentials(tx, connection);
    await execute(tx, sql`delete from connections where id = ${id} and project_id = ${projectId}`);
    // After the deletion, which takes the policies along: the new versions no longer have the tools.
    const routineIds = await routineEditor.returnToDraft(tx, {
      projectId,
      routineIds: users,
      reason,
      by,
    });
    const { kind, provider } = connection;
    const entry = { by, projectId, targetId: id, details: { kind, provider } };
    await recordProjectAudit(tx, { ...entry, action: 'connection.deleted' });
    return { connection, routineIds, sealed };
  });
}

/** A connection that is gone, with what it could sign in with. */
export interface ErasedConnection extends Pick<Connection, 'id' | 'provider' | 'auth'> {
  readonly sealed: string | null;
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

/**
 * Edits routines on behalf of their tools: a change of tools is material. The subject that owns routines implements it.
 */
export interface RoutineEditor {
  /**
   * Holds the routine for the rest of the transaction, so that its policies change one at a time.
   * @throws {AppError} `routine_not_found`, `routine_archived`
   */
  hold(tx: Db, projectId: string, routineId: string): Promise<void>;
  /**
   * Holds the routines that may call a tool of the connection by themselves.
   * @returns their ids
   */
  holdUsersOf(tx: Db, projectId: string, connectionId: string): Promise<string[]>;
  /**
   * Returns routines to draft as new versions with the tools as they are then: they lose their proof run and their next
   * time, and scheduled runs that have not begun are skipped. What takes one off its schedule is on record. `reason` is
   * shown on the routine; null where a person made the change on the routine itself.
   * @returns the ids of those that were changed
   */
  returnToDraft(
    tx: Db,
    input: {
      projectId: string;
      routineIds: readonly string[];
      reason: string | null;
      /** The author of the change; the service itself when it found it. */
      by: Actor;
    },
  ): Promise<string[]>;
}
