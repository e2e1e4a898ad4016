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
  /** Routines that returned to draft because they used the connection. */
  readonly routineIds: readonly string[];
}

/**
 * Deletes a connection with its credentials and policies. Routines that used one of its tools return to draft with a
 * reason, since their proof is no longer valid. A sign-in is revoked at its provider afterwards; the caller does not
 * wait, as the credentials are already deleted here.
 * @throws {AppError} `connection_not_found`
 */
export async function deleteConnection(
  deps: Pick<ConnectionsCore, 'connectionSecrets' | 'database' | 'emit' | 'log' | 'outbound' | 'providers'>,
  projectId: string,
  id: string,
  by: Actor,
): Promise<RemovedConnection> {
  const { sealed, ...removed } = await transaction(deps.database, async (tx) => {
    // Lock routines before the connection, in the order of discovery, so that the two cannot deadlock.
    const users = await lockUsersOfConnection(tx, projectId, id);
    const erased = await eraseConnection(tx, projectId, id);
    const { name, kind, provider } = erased.connection;
    const reason = `the connection "${name}" that it used was deleted`;
    // The deletion has removed the policies, so the new versions are made without these tools.
    const routineIds = await takeNewTools(deps, tx, { projectId, routineIds: users, reason, by });
    const entry = { by, projectId, targetId: id, details: { kind, provider } };
    await recordProjectAudit(tx, { ...entry, action: 'connection.deleted' });
    return { ...erased, routineIds };
  });
  void revokeErased(deps, { ...removed.connection, sealed });
  return removed;
}
