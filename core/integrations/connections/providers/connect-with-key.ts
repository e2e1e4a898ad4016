import type { Actor } from '#core/foundation/audit/index.ts';
import { now } from '#lib/clock.ts';
import { AppError } from '#lib/errors.ts';
import type { ConnectionsCore } from '../core.ts';
import { draftConnection, type Connection } from '../store/connection.ts';
import { storeCredentials } from '../store/credentials.ts';
import { assertRoomForConnection, insertConnection, readConnection } from '../store/queries.ts';
import { verifyCredential } from './accounts.ts';

/**
 * Tries an API key at its provider and stores it, sealed, when it works: in a new connection, or in place of the key of
 * the named connection.
 * @throws {AppError} `provider_not_found`, `connection_not_found`, `limit_reached`, `invalid_request` when the provider
 * refuses the key, `provider_error`
 */
export async function connectWithKey(
  deps: Pick<ConnectionsCore, 'connectionSecrets' | 'database' | 'outbound' | 'providers'>,
  input: {
    id: string;
    connectionId: string | undefined;
    projectId: string;
    provider: string;
    name: string | undefined;
    apiKey: string;
    createdBy: string | null;
    by: Actor;
  },
): Promise<Connection> {
  const { database, connectionSecrets, outbound } = deps;
  const { id, projectId, name, connectionId, createdBy } = input;
  const provider = deps.providers.find(input.provider);
  const { auth } = provider;
  if (auth.kind !== 'api_key') {
    throw new AppError('invalid_request', 'provider: connects by signing in, not with an API key');
  }
  const headers = { authorization: `${auth.scheme} ${input.apiKey}` };
  const existing = connectionId === undefined ? undefined : await readConnection(database, projectId, connectionId);
  if (existing !== undefined && existing.provider !== provider.id) {
    throw new AppError('invalid_request', 'connectionId: the connection is at another provider');
  }
  if (existing === undefined) await assertRoomForConnection(database, input);
  const draft = existing ?? draftConnection({ id, projectId, to: provider, name, auth: 'api_key', createdBy });
  const verified = await verifyCredential(outbound, provider, draft.url, headers);
  if (verified.kind === 'rejected') {
    throw new AppError('invalid_request', 'apiKey: the provider does not accept this key');
  }
  if (verified.kind === 'failed') {
    throw new AppError('provider_error', 'The key could not be verified at the provider; try again.');
  }
  const sealed = connectionSecrets.seal(draft.id, { kind: 'headers', headers });
  if (existing === undefined) {
    return insertConnection(database, connectionSecrets, input.by, {
      ...draft,
      accountLabel: verified.accountLabel,
      server: verified.server,
      checkedAt: new Date(now()),
      sealedCredentials: sealed,
    });
  }
  await storeCredentials(database, input.by, existing, {
    sealed,
    expiresInSeconds: undefined,
    scopes: undefined,
    accountLabel: verified.accountLabel,
  });
  return readConnection(database, projectId, existing.id);
}
