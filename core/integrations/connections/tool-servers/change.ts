import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import {
  checkToolServer,
  ToolServerError,
  type RequestCredentials,
  type ServerInfo,
  type ToolServer,
} from '#core/clients/mcp/index.ts';
import { sql, transaction, type Database, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ConnectionsCore } from '../core.ts';
import type { Connection } from '../store/connection.ts';
import type { StaticCredentials } from '../store/credential-source.ts';
import { isRedacted, splitAddress, withAddress, type ConnectionSecrets } from '../store/credentials.ts';
import { readConnection } from '../store/queries.ts';
import { allowedUrl, givenCredentials, refusal } from './create.ts';

type ChangeDeps = Pick<ConnectionsCore, 'connectionSecrets' | 'credentials' | 'database' | 'outbound'>;

export interface ConnectionChange {
  readonly name?: string | undefined;
  /** The same address with another query, for servers that take their key in the query. */
  readonly url?: string | undefined;
  /** Credentials that replace the present ones. */
  readonly credentials?: StaticCredentials | undefined;
}

/**
 * Renames a connection, or tries new credentials at the server and stores them. New credentials make the connection
 * ready again. Id and tool policies stay.
 * @throws {AppError} `connection_not_found`, `invalid_request` when the credentials fail or are not of the kind that a
 * person types, `provider_error`
 */
export async function changeConnection(
  deps: ChangeDeps,
  by: Actor,
  scope: { projectId: string; connectionId: string },
  change: ConnectionChange,
): Promise<Connection> {
  const { database, connectionSecrets } = deps;
  const stored = await readConnection(database, scope.projectId, scope.connectionId);
  const { name, url, credentials } = change;
  if (url === undefined && credentials === undefined) {
    return name === undefined ? stored : write(database, by, stored, { name });
  }
  const field = credentials === undefined ? 'url' : FIELD_OF[credentials.kind];
  if (stored.kind !== 'tool_server' || !TYPED_IN.has(stored.auth)) {
    throw new AppError(
      'invalid_request',
      `${field}: the provider issued the credentials of this connection; sign in again with connectionId`,
    );
  }
  const given = url === undefined ? undefined : sameServer(deps, stored, url);
  const called = given ?? withAddress(connectionSecrets, stored).url;
  if (called === null) throw refusal(new ToolServerError('not_mcp'));
  const trial: RequestCredentials = {
    headers: (signal) => deps.credentials.headers(stored, signal),
    refused: async () => undefined,
  };
  const used = credentials === undefined ? trial : givenCredentials(credentials);
  const server = await tried(deps, { url: called, credentials: used }, field);
  return write(database, by, stored, {
    name,
    checked: {
      server,
      address: given === undefined ? sql`` : addressColumns(connectionSecrets, stored.id, given),
      credentials:
        credentials === undefined
          ? sql``
          : sql`
              , auth = ${credentials.kind}, credentials = ${connectionSecrets.seal(stored.id, credentials)},
              credentials_version = credentials_version + 1
            `,
    },
  });
}

function addressColumns(secrets: ConnectionSecrets, id: string, url: string): Sql {
  const { shown, query } = splitAddress(url);
  const sealed = query === null ? null : secrets.sealQuery(id, query);
  return sql`, url = ${shown}, url_query = ${sealed}`;
}

const FIELD_OF = { bearer: 'bearerToken', headers: 'headers' } as const;
const TYPED_IN: ReadonlySet<Connection['auth']> = new Set(['none', 'bearer', 'headers']);

/**
 * @throws {AppError} `invalid_request` unless only the query differs: the policies of a connection are about one server
 */
function sameServer({ outbound }: ChangeDeps, stored: Connection, text: string): string {
  const url = allowedUrl(outbound, text);
  const base = (address: string) => address.split('?', 1)[0];
  if (stored.url === null || base(url) !== base(stored.url)) {
    throw new AppError(
      'invalid_request',
      'url: only the query can be changed; connect another server as a new connection',
    );
  }
  if (isRedacted(url)) {
    throw new AppError('invalid_request', 'url: replace each [redacted] by its value');
  }
  return url;
}

async function tried({ outbound }: ChangeDeps, server: ToolServer, field: string): Promise<ServerInfo> {
  try {
    return await checkToolServer({ outbound }, server);
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    if (!error.isDenial) throw refusal(error);
    throw new AppError('invalid_request', `${field}: the server does not accept it`);
  }
}

interface Checked {
  readonly server: ServerInfo;
  /** Assignments of the columns that change; empty if the address stays. */
  readonly address: Sql;
  readonly credentials: Sql;
}

function write(
  database: Database,
  by: Actor,
  { id, projectId }: Connection,
  { name, checked }: { name: string | undefined; checked?: Checked },
): Promise<Connection> {
  const working =
    checked === undefined
      ? sql``
      : sql`
          , server = ${JSON.stringify(checked.server)}, state = 'ready', public_error = null, checked_at = now()
          ${checked.address} ${checked.credentials}
        `;
  const fields = [name === undefined ? [] : 'name', checked === undefined ? [] : 'credentials'].flat();
  return transaction(database, async (tx) => {
    await tx.rowOr<{ id: string }>('connection_not_found')`
      update connections set name = coalesce(${name ?? null}, name), updated_at = now() ${working}
      where id = ${id} and project_id = ${projectId}
      returning id
    `;
    const entry = { by, projectId, targetId: id, details: { fields } };
    await recordProjectAudit(tx, { ...entry, action: 'connection.changed' });
    return readConnection(tx, projectId, id);
  });
}
