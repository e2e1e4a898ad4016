import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { CredentialSource } from './store/credential-source.ts';
import { readConnection } from './store/queries.ts';

/**
 * Checks that the connections a run needs are there and have credentials that work, before anything is spent: a sign-in
 * that was revoked is found out here, where it is due for renewal, and not by the first call.
 */
export async function connectionsReady(
  deps: { database: Db; credentials: CredentialSource },
  projectId: string,
  connectionIds: Iterable<string>,
  signal: AbortSignal,
): Promise<boolean> {
  for (const id of new Set(connectionIds)) {
    try {
      const connection = await readConnection(deps.database, projectId, id);
      if (connection.state !== 'ready' || connection.url === null) return false;
      await deps.credentials.headers(connection, signal);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'connection_not_ready' || error.code === 'connection_not_found')
        return false;
      // A provider that is away for the moment may be back when the tool is called.
    }
  }
  return true;
}
