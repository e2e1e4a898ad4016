import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import {
  execute,
  row,
  sql,
  transaction,
  type Database,
  type Db,
  type Sql,
} from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Connection, ConnectionState } from './connection.ts';

export interface SealedCredentials {
  readonly credentials: string | null;
  readonly expireAt: Date | null;
  readonly state: ConnectionState;
}

/**
 * Reads the sealed credentials; with `lock`, holds them for the rest of the transaction. @throws {AppError}
 * `connection_not_found`
 */
export async function readSealedCredentials(
  db: Db,
  connection: Pick<Connection, 'id' | 'projectId'>,
  options: { lock?: boolean } = {},
): Promise<SealedCredentials> {
  const lock = options.lock === true ? sql`for update` : sql``;
  const found = await row<SealedCredentials>(
    db,
    sql`
      select credentials, credentials_expire_at as "expireAt", state from connections
      where id = ${connection.id} and project_id = ${connection.projectId} ${lock}
    `,
  );
  if (found === undefined) throw new AppError('connection_not_found');
  return found;
}

export interface NewCredentials {
  readonly sealed: string;
  readonly expiresInSeconds: number | undefined;
  /** Undefined leaves them as they are. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * Stores credentials that a person gave anew, in place of whatever there was. @throws {AppError} `connection_not_found`
 */
export function storeCredentials(
  database: Database,
  by: Actor,
  connection: Pick<Connection, 'id' | 'projectId'>,
  credentials: NewCredentials & {
    readonly accountLabel: string | null;
    /** The scopes that a sign-in asked for; others may be demanded again. */
    readonly askedScopes?: readonly string[];
  },
): Promise<void> {
  const { id, projectId } = connection;
  return transaction(database, async (tx) => {
    const touched = await execute(
      tx,
      sql`
        update connections set ${credentialColumns(credentials)}, state = 'ready', public_error = null,
          checked_at = now(), signed_in_by = ${by.kind === 'person' ? by.id : null}, account_label = ${credentials.accountLabel},
          demanded_scopes = array(
            select each from unnest(demanded_scopes) each
            where each = any(coalesce(${credentials.askedScopes ?? null}::text[], demanded_scopes)))
        where id = ${id} and project_id = ${projectId}
      `,
    );
    if (touched === 0) throw new AppError('connection_not_found');
    const details = { fields: ['credentials'] };
    await recordProjectAudit(tx, {
      by,
      projectId,
      action: 'connection.changed',
      targetId: id,
      details,
    });
  });
}

/** Returns the assignments that put new credentials in the place of the old ones, and end their renewal. */
export function credentialColumns({ sealed, expiresInSeconds, scopes }: NewCredentials): Sql {
  return sql`
    credentials = ${sealed}, credentials_version = credentials_version + 1,
    credentials_expire_at = now() + make_interval(secs => ${expiresInSeconds ?? null}::integer),
    scopes = coalesce(${scopes ?? null}::text[], scopes),
    renewal_lease = null, renewal_leased_until = null, updated_at = now()
  `;
}
