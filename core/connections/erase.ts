import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import { revokeStored, type RevocationDeps } from './oauth/index.ts';
import type { Connection } from './store/connection.ts';

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

/** Hands the tokens of an erased connection back to who issued them, where there are any. Never throws. */
export async function revokeErased(
  deps: RevocationDeps,
  { sealed, ...connection }: ErasedConnection,
): Promise<void> {
  if (connection.auth === 'oauth' && sealed !== null) await revokeStored(deps, connection, sealed);
}
