import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { holdProject } from '#core/accounts/organizations/index.ts';
import { sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertWithinQuota } from '#lib/quota.ts';
import type { Connection, ConnectionDraft, ConnectionError } from './connection.ts';
import { splitAddress, type ConnectionSecrets } from './credentials.ts';

/** The columns of a connection, under the names of `Connection`. */
export const connectionColumns = sql`
  id, project_id as "projectId", kind, provider, name, url, url_query as "sealedQuery", auth,
  account_label as "accountLabel", scopes, server, state, public_error as "publicError",
  created_by as "createdBy", created_at as "createdAt", updated_at as "updatedAt", checked_at as "checkedAt"
`;

/** @throws {AppError} `connection_not_found` */
export function readConnection(db: Db, projectId: string, id: string): Promise<Connection> {
  return db.rowOr<Connection>('connection_not_found')`
    select ${connectionColumns} from connections where id = ${id} and project_id = ${projectId}
  `;
}

/** Reads and locks a connection until the end of the transaction. @throws {AppError} `connection_not_found` */
export function lockConnection(tx: Db, projectId: string, id: string): Promise<Connection> {
  return tx.rowOr<Connection>('connection_not_found')`
    select ${connectionColumns} from connections where id = ${id} and project_id = ${projectId} for update
  `;
}

export function listConnections(db: Db, projectId: string, page: Page): Promise<Connection[]> {
  return db.rows<Connection>`
    select ${connectionColumns} from connections
    where project_id = ${projectId} ${afterCursor(page)}
    order by id desc limit ${page.limit + 1}
  `;
}

/** A connection to be stored, with its whole address. */
export interface NewConnection extends ConnectionDraft {
  readonly sealedCredentials: string | null;
}

/**
 * Stores a new connection, or finds the connection that an earlier attempt of the same request stored.
 * @throws {AppError} `project_not_found`
 */
export function insertConnection(
  database: Database,
  secrets: ConnectionSecrets,
  by: Actor,
  input: NewConnection,
): Promise<Connection> {
  const { id, projectId } = input;
  return transaction(database, async (tx) => {
    await holdProject(tx, projectId);
    const inserted = await insert(tx, secrets, input);
    if (inserted === undefined) return readConnection(tx, projectId, id);
    const { kind, provider, auth } = inserted;
    const details = { kind, provider, auth };
    await recordProjectAudit(tx, { by, projectId, action: 'connection.created', targetId: id, details });
    return inserted;
  });
}

function insert(db: Db, secrets: ConnectionSecrets, input: NewConnection): Promise<Connection | undefined> {
  const { shown, query } = input.url === null ? NO_ADDRESS : splitAddress(input.url);
  const sealedQuery = query === null ? null : secrets.sealQuery(input.id, query);
  return db.row<Connection>`
    insert into connections (id, project_id, kind, provider, name, url, url_query, auth, credentials, account_label,
      scopes, server, state, public_error, created_by, checked_at)
    values (${input.id}, ${input.projectId}, ${input.kind}, ${input.provider}, ${input.name}, ${shown},
      ${sealedQuery}, ${input.auth}, ${input.sealedCredentials}, ${input.accountLabel},
      ${input.scopes}, ${input.server === null ? null : JSON.stringify(input.server)}, ${input.state},
      ${input.publicError}, ${input.createdBy}, ${input.checkedAt})
    on conflict (id) do nothing
    returning ${connectionColumns}
  `;
}

const NO_ADDRESS = { shown: null, query: null };

/** Records that the server accepts the credentials, even if it refused them before. */
export async function markReady(db: Db, connection: Pick<Connection, 'id' | 'projectId'>): Promise<void> {
  await db.row`
    update connections set state = 'ready', public_error = null, checked_at = now(), updated_at = now()
    where id = ${connection.id} and project_id = ${connection.projectId}
  `;
}

/**
 * Records why a connection cannot be used now. The credentials stay until the connection is deleted, changed or
 * connected again. A connection that has changed since it was read is left alone: its new credentials may work.
 */
export async function markConnectionNotReady(
  db: Db,
  connection: Pick<Connection, 'id' | 'projectId' | 'updatedAt'>,
  error: ConnectionError,
): Promise<void> {
  await db.row`
    update connections set state = 'needs_reauthorization', public_error = ${error}, updated_at = now()
    where id = ${connection.id} and project_id = ${connection.projectId} and updated_at = ${connection.updatedAt}
  `;
}

const MAX_CONNECTIONS = 1_000;

/** Checks that the project has room for a connection, before any server is asked. @throws {AppError} `limit_reached` */
export function assertRoomForConnection(
  db: Db,
  { id, projectId }: { readonly id: string; readonly projectId: string },
): Promise<void> {
  return assertWithinQuota(db, {
    counted: sql`select from connections where project_id = ${projectId} and id <> ${id}`,
    max: MAX_CONNECTIONS,
    what: 'connections',
  });
}
