import { z } from 'zod';
import { ToolServerError, type RequestCredentials, type ToolServer } from '#core/clients/mcp/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { NotRenewed } from '#lib/shared-renewal.ts';
import { SecretUnreadable } from '#lib/secrets/index.ts';
import type { Connection, ConnectionAuth } from './connection.ts';
import { readSealedCredentials, withAddress, type ConnectionSecrets } from './credentials.ts';
import { markConnectionNotReady, readConnection } from './queries.ts';

/** The credentials of all stored connections. `RequestCredentials` has the credentials of one connection. */
export interface CredentialSource {
  /**
   * Returns the headers for a request made now. Credentials that are about to expire are renewed first.
   * @throws {AppError} `connection_not_ready` without working credentials
   */
  headers(connection: Connection, signal: AbortSignal): Promise<Record<string, string>>;
  /**
   * Records a refusal as `RequestCredentials` does; if there are no other headers, marks the connection as not ready.
   */
  refused(
    connection: Connection,
    ...refusal: Parameters<RequestCredentials['refused']>
  ): ReturnType<RequestCredentials['refused']>;
}

export interface CredentialDeps {
  readonly database: Db;
  readonly connectionSecrets: ConnectionSecrets;
}

/** Credentials that a person typed, in their sealed form. */
const staticCredentials = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bearer'), token: z.string() }),
  z.strictObject({ kind: z.literal('headers'), headers: z.record(z.string(), z.string()) }),
]);
export type StaticCredentials = z.output<typeof staticCredentials>;

/** Creates one source for all connections. `renewable` serves the kinds of credentials that expire. */
export function createCredentialSource(
  deps: CredentialDeps,
  renewable: Partial<Record<ConnectionAuth, CredentialSource>>,
): CredentialSource {
  const fixed = createStaticSource(deps);
  const sourceOf = (connection: Connection) => renewable[connection.auth] ?? fixed;
  return {
    headers: (connection, signal) => sourceOf(connection).headers(connection, signal),
    refused: (connection, ...refusal) => sourceOf(connection).refused(connection, ...refusal),
  };
}

function createStaticSource({ database, connectionSecrets }: CredentialDeps): CredentialSource {
  return {
    async headers(connection) {
      if (connection.auth === 'none') return {};
      // Use the credentials in every state: a server that refused them once may accept them again.
      const { credentials } = await readSealedCredentials(database, connection);
      if (credentials === null) throw new AppError('connection_not_ready');
      return headersOf(staticCredentials.parse(connectionSecrets.open(connection.id, credentials)));
    },
    async refused(connection, _used, _signal, demandedScopes) {
      const error = demandedScopes === undefined ? 'credentials_rejected' : 'scopes_missing';
      await markConnectionNotReady(database, connection, error);
      return undefined;
    },
  };
}

export function headersOf(credentials: StaticCredentials): Record<string, string> {
  return credentials.kind === 'bearer' ? { authorization: `Bearer ${credentials.token}` } : { ...credentials.headers };
}

/**
 * Makes the tool server of a stored connection, with its whole address and stored credentials.
 * @throws {ToolServerError} when the provider runs no tool server
 */
export function toolServerOf(
  deps: { readonly connectionSecrets: ConnectionSecrets; readonly credentials: CredentialSource },
  connection: Connection,
): ToolServer {
  const { url } = withAddress(deps.connectionSecrets, connection);
  if (url === null) throw new ToolServerError('not_mcp', { mayHaveArrived: false });
  const { credentials } = deps;
  return {
    url,
    credentials: {
      headers: (signal) => credentials.headers(connection, signal),
      refused: (...refusal) => credentials.refused(connection, ...refusal),
    },
  };
}

/** Tells whether a run can use its connections. `away` means that a provider may be back later. */
export type Readiness = 'ready' | 'blocked' | 'away';

/**
 * Checks, before anything is spent, that the connections of a run exist and have working credentials. A revoked sign-in
 * is found here, when its renewal is due, instead of at the first call. Expired credentials that cannot be renewed do
 * not work.
 */
export async function connectionsReady(
  deps: { database: Db; credentials: CredentialSource },
  projectId: string,
  connectionIds: Iterable<string>,
  signal: AbortSignal,
): Promise<Readiness> {
  let isAway = false;
  for (const id of new Set(connectionIds)) {
    try {
      const connection = await readConnection(deps.database, projectId, id);
      if (connection.state !== 'ready' || connection.url === null) return 'blocked';
      await deps.credentials.headers(connection, signal);
    } catch (error) {
      if (!(error instanceof AppError) || error instanceof SecretUnreadable) throw error;
      if (error.code !== 'provider_error' || (error instanceof NotRenewed && error.isRefusal)) return 'blocked';
      isAway = true;
    }
  }
  return isAway ? 'away' : 'ready';
}
