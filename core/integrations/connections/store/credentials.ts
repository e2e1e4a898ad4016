import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';
import type { Connection } from './connection.ts';

interface SealedCredentials {
  readonly credentials: string | null;
}

/** Reads the sealed credentials. @throws {AppError} `connection_not_found` */
export function readSealedCredentials(
  db: Db,
  { id, projectId }: Pick<Connection, 'id' | 'projectId'>,
): Promise<SealedCredentials> {
  return db.rowOr<SealedCredentials>('connection_not_found')`
    select credentials from connections where id = ${id} and project_id = ${projectId}
  `;
}

export interface NewCredentials {
  readonly sealed: string;
  readonly expiresInSeconds: number | undefined;
  /** Scopes of the new credentials; undefined keeps the present scopes. */
  readonly scopes: readonly string[] | undefined;
}

/** Replaces the credentials by new credentials of a person. @throws {AppError} `connection_not_found` */
export function storeCredentials(
  database: Database,
  by: Actor,
  connection: Pick<Connection, 'id' | 'projectId'>,
  credentials: NewCredentials & {
    readonly accountLabel: string | null;
    /** The scopes that a sign-in requested. A tool server may demand further scopes later. */
    readonly askedScopes?: readonly string[];
  },
): Promise<void> {
  const { id, projectId } = connection;
  return transaction(database, async (tx) => {
    const touched = await tx.run`
      update connections set ${credentialColumns(credentials)}, state = 'ready', public_error = null,
        checked_at = now(), signed_in_by = ${by.kind === 'person' ? by.id : null},
        account_label = ${credentials.accountLabel},
        demanded_scopes = array(
          select each from unnest(demanded_scopes) each
          where each = any(coalesce(${credentials.askedScopes ?? null}::text[], demanded_scopes)))
      where id = ${id} and project_id = ${projectId}
    `;
    if (touched === 0) throw new AppError('connection_not_found');
    const details = { fields: ['credentials'] };
    await recordProjectAudit(tx, { by, projectId, action: 'connection.changed', targetId: id, details });
  });
}

/**
 * Returns assignments that replace the credentials. A renewal of the old credentials that is still running then stores
 * nothing.
 */
export function credentialColumns({ sealed, expiresInSeconds, scopes }: NewCredentials): Sql {
  return sql`
    credentials = ${sealed}, credentials_version = credentials_version + 1,
    credentials_expire_at = now() + make_interval(secs => ${expiresInSeconds ?? null}::integer),
    credentials_life_seconds = ${expiresInSeconds ?? null}::integer,
    scopes = coalesce(${scopes ?? null}::text[], scopes),
    renewal_lease = null, renewal_leased_until = null, updated_at = now()
  `;
}

/** Stored credentials: JSON, sealed for the row of their connection. */
export interface ConnectionSecrets {
  seal(connectionId: string, credentials: object): string;
  /** @throws when the text was altered, belongs to another connection, or is sealed under an unknown key */
  open(connectionId: string, sealed: string): unknown;
  /** Seals the query of a connection's address, as `seal` seals credentials. */
  sealQuery(connectionId: string, query: string): string;
  /** @throws as `open` does */
  openQuery(connectionId: string, sealed: string): string;
}

export function createConnectionSecrets(box: SecretBox): ConnectionSecrets {
  return {
    seal: (connectionId, credentials) => box.seal(JSON.stringify(credentials), place(connectionId)),
    open: (connectionId, sealed) => JSON.parse(box.open(sealed, place(connectionId))) as unknown,
    sealQuery: (connectionId, query) => box.seal(query, queryPlace(connectionId)),
    openQuery: (connectionId, sealed) => box.open(sealed, queryPlace(connectionId)),
  };
}

function place(row: string): SecretPlace {
  return { table: 'connections', row, column: 'credentials' };
}

function queryPlace(row: string): SecretPlace {
  return { table: 'connections', row, column: 'url_query' };
}

/**
 * The two halves of a tool server's address. Some servers take their key in the query, so its values are stored sealed,
 * and the readable half shows only the names.
 */
export interface SplitAddress {
  /** The address with only the names of its query; each value, and each part without a name, is `[redacted]`. */
  readonly shown: string;
  /** The query of the address; null if it has none. */
  readonly query: string | null;
}

export function splitAddress(url: string): SplitAddress {
  const mark = url.indexOf('?');
  if (mark === -1) return { shown: url, query: null };
  const query = url.slice(mark + 1);
  return { shown: `${url.slice(0, mark)}?${query.split('&').map(withoutValue).join('&')}`, query };
}

/**
 * Puts the query back into the address of a stored connection, right before a request, so that keys reach nothing else.
 */
export function withAddress(secrets: ConnectionSecrets, connection: Connection): Connection {
  const { id, url, sealedQuery } = connection;
  if (url === null || sealedQuery === undefined || sealedQuery === null) return connection;
  const { shown } = splitAddress(url);
  const [base = shown] = shown.split('?', 1);
  return { ...connection, url: `${base}?${secrets.openQuery(id, sealedQuery)}`, sealedQuery: null };
}

/** Recognizes an address, or a part of an address, that a caller sends back in its redacted form. */
export function isRedacted(url: string): boolean {
  const parts = splitAddress(url).query?.split('&') ?? [];
  return parts.some((part) => part !== '' && part === withoutValue(part));
}

function withoutValue(part: string): string {
  if (part === '') return part;
  const equals = part.indexOf('=');
  return equals === -1 ? REDACTED : `${part.slice(0, equals)}=${REDACTED}`;
}

const REDACTED = '[redacted]';
