import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { ModelConnection } from '../connection.ts';
import type { ModelProviders } from '../providers/providers.ts';
import { connectionColumns, isUsable } from './columns.ts';

/** @throws {AppError} `connection_not_found` */
export async function readModelConnection(
  db: Db,
  projectId: string,
  id: string,
): Promise<ModelConnection> {
  const found = await row<ModelConnection>(
    db,
    sql`
      select ${connectionColumns} from model_connections c
      where c.id = ${id} and c.project_id = ${projectId}
    `,
  );
  if (found === undefined) throw new AppError('connection_not_found');
  return found;
}

/** Lists every account of the project, those that cannot be used too, newest first. */
export function listModelConnections(
  db: Db,
  projectId: string,
  page: Page,
): Promise<ModelConnection[]> {
  return rows<ModelConnection>(
    db,
    sql`
      select ${connectionColumns} from model_connections c
      where c.project_id = ${projectId} ${afterCursor(page, sql`c.id`)}
      order by c.id desc limit ${page.limit + 1}
    `,
  );
}

/** An account that may be used, with its sealed credential. */
interface UsableConnection extends ModelConnection {
  readonly sealed: string;
  readonly credentialVersion: number;
  readonly credentialExpiresAt: Date | null;
}

/** Finds an account that may be used now; undefined when it may not, or is another project's. */
export function findUsableConnection(
  db: Db,
  providers: ModelProviders,
  projectId: string,
  id: string,
): Promise<UsableConnection | undefined> {
  return row<UsableConnection>(
    db,
    sql`
      select ${connectionColumns}, c.credential as sealed, c.credential_version as "credentialVersion",
        c.credential_expires_at as "credentialExpiresAt"
      from model_connections c
      where c.id = ${id} and c.project_id = ${projectId} and ${isUsable(providers)}
    `,
  );
}
