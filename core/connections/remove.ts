import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import { execute, sql, transaction, type Database } from '#lib/database/index.ts';
import type { Connection } from './store/connection.ts';
import { revokeStored, type RevocationDeps } from './oauth/index.ts';
import type { RoutineEditor } from './routines.ts';
import { readSealedCredentials } from './store/credentials.ts';
import { lockConnection } from './store/queries.ts';

export interface RemovedConnection {
  readonly connection: Connection;
  /** Routines that went back to draft because they used it. */
  readonly routineIds: readonly string[];
}

/**
 * Deletes a connection with its credentials and policies. Routines with a tool of it that was automatic can no longer
 * do what was proved of them, so they go back to draft and say why. A sign-in is revoked at its provider afterwards,
 * for which nobody waits: the credentials are gone here, whatever the provider says.
 * @throws {AppError} `connection_not_found`
 */
export async function deleteConnection(
  deps: RevocationDeps & { readonly database: Database; readonly routineEditor: RoutineEditor },
  projectId: string,
  id: string,
  by: Actor,
): Promise<RemovedConnection> {
  const { sealed, ...removed } = await remove(deps, projectId, id, by);
  const { connection } = removed;
  if (connection.auth === 'oauth' && sealed !== null) void revokeStored(deps, connection, sealed);
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
