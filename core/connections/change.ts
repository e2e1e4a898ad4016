import { row, sql, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { isRedacted, splitAddress, withAddress } from './address.ts';
import type { Connection, ServerInfo } from './connection.ts';
import { allowedUrl, givenCredentials, refusal } from './create.ts';
import type { CredentialSource, StaticCredentials } from './credential-source.ts';
import { checkToolServer } from './mcp/check.ts';
import { ToolServerFault } from './mcp/fault.ts';
import type { ToolServerDeps } from './mcp/session.ts';
import { readConnection } from './queries.ts';
import type { ConnectionSecrets } from './secrets.ts';

export interface ChangeDeps extends ToolServerDeps {
  readonly database: Database;
  readonly connectionSecrets: ConnectionSecrets;
}

export interface ConnectionChange {
  readonly name?: string | undefined;
  /** The same address with another query, for servers that take their key there. */
  readonly url?: string | undefined;
  /** In place of the ones there are. */
  readonly credentials?: StaticCredentials | undefined;
}

/**
 * Renames a connection, or gives it other credentials: tried at the server before they are kept, and ready again when
 * they work. Its id stays, and with it the tool policies.
 * @throws {AppError} `connection_not_found`, `invalid_request` when the credentials do not work or are not of the kind
 * that a person types in, `provider_error`
 */
export async function changeConnection(
  deps: ChangeDeps,
  scope: { projectId: string; connectionId: string },
  change: ConnectionChange,
): Promise<Connection> {
  const { database, connectionSecrets } = deps;
  const stored = await readConnection(database, scope.projectId, scope.connectionId);
  const { name, url, credentials } = change;
  if (url === undefined && credentials === undefined) {
    return name === undefined ? stored : write(database, stored, { name });
  }
  const field = credentials === undefined ? 'url' : FIELD_OF[credentials.kind];
  if (stored.kind !== 'tool_server' || !TYPED_IN.has(stored.auth)) {
    throw new AppError(
      'invalid_request',
      `${field}: its provider gave this connection its credentials; connect again with connectionId`,
    );
  }
  const current = withAddress(connectionSecrets, stored);
  const given = url === undefined ? undefined : sameServer(deps, stored, url);
  const called = given === undefined ? current : { ...current, url: given };
  const source =
    credentials === undefined ? onTrial(deps.credentials) : givenCredentials(credentials);
  const server = await tried(deps, called, source, field);
  return write(database, stored, {
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

/** @throws {AppError} `invalid_request` unless only the query is another one: policies are about one server */
function sameServer({ outbound }: ChangeDeps, stored: Connection, text: string): string {
  const url = allowedUrl(outbound, text);
  const base = (address: string) => address.split('?', 1)[0];
  if (stored.url === null || base(url) !== base(stored.url)) {
    throw new AppError(
      'invalid_request',
      'url: only its query can be changed; connect another server anew',
    );
  }
  if (isRedacted(url)) {
    throw new AppError('invalid_request', 'url: give the values in place of [redacted]');
  }
  return url;
}

/** The stored credentials, without the consequences that a refusal of them has. */
function onTrial(credentials: CredentialSource): CredentialSource {
  return {
    headers: (connection, signal) => credentials.headers(connection, signal),
    refused: async () => undefined,
  };
}

async function tried(
  { outbound }: ChangeDeps,
  connection: Connection,
  credentials: CredentialSource,
  field: string,
): Promise<ServerInfo> {
  try {
    return await checkToolServer({ outbound, credentials }, connection);
  } catch (error) {
    if (!(error instanceof ToolServerFault)) throw error;
    if (error.kind !== 'sign_in') throw refusal(error);
    throw new AppError('invalid_request', `${field}: the server does not accept it`);
  }
}

interface Checked {
  readonly server: ServerInfo;
  /** Assignments of the columns that change; empty ones leave them as they are. */
  readonly address: Sql;
  readonly credentials: Sql;
}

async function write(
  db: Db,
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
  const updated = await row<{ id: string }>(
    db,
    sql`
      update connections set name = coalesce(${name ?? null}, name), updated_at = now() ${working}
      where id = ${id} and project_id = ${projectId}
      returning id
    `,
  );
  if (updated === undefined) throw new AppError('connection_not_found');
  return readConnection(db, projectId, id);
}
