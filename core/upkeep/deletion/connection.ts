import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import {
  eraseConnection,
  revokeErased,
  type Connection,
  type ConnectionsCore,
} from '#core/integrations/connections/index.ts';
import { lockUsersOfConnection, takeNewTools } from '#core/authoring/routines/index.ts';
import { transaction } from '#lib/database/index.ts';

interface RemovedConnection {
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
  deps: Pick<ConnectionsCore, 'connectionSecrets' | 'database' | 'emit' | 'log' | 'outbound' | 'providers'>,
  projectId: string,
  id: string,
  by: Actor,
): Promise<RemovedConnection> {
  const { sealed, ...removed } = await transaction(deps.database, async (tx) => {
    // Routines before the connection, as discovery takes them, so that the two cannot wait for each other.
    const users = await lockUsersOfConnection(tx, projectId, id);
    const erased = await eraseConnection(tx, projectId, id);
    const { name, kind, provider } = erased.connection;
    const reason = `the connection "${name}" that it used was deleted`;
    // After the deletion, which takes the policies along: the new versions no longer have the tools.
    const routineIds = await takeNewTools(deps, tx, { projectId, routineIds: users, reason, by });
    const entry = { by, projectId, targetId: id, details: { kind, provider } };
    await recordProjectAudit(tx, { ...entry, action: 'connection.deleted' });
    return { ...erased, routineIds };
  });
  void revokeErased(deps, { ...removed.connection, sealed });
  return removed;
}
