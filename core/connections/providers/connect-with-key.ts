import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { Connection } from '../connection.ts';
import { insertConnection } from '../queries.ts';
import type { ConnectionSecrets } from '../secrets.ts';
import type { ProviderCatalogue } from './catalogue.ts';
import { managedDraft } from './draft.ts';
import { verifyCredential } from './verify.ts';

export interface ConnectWithKeyDeps {
  readonly database: Database;
  readonly connectionSecrets: ConnectionSecrets;
  readonly outbound: OutboundClient;
  readonly providers: ProviderCatalogue;
}

/**
 * Tries an API key at its provider and keeps it, sealed, when it works.
 * @throws {AppError} `provider_not_found`, `invalid_request` when the provider does not take the key, `provider_error`
 */
export async function connectWithKey(
  { database, connectionSecrets, outbound, providers }: ConnectWithKeyDeps,
  input: {
    id: string;
    projectId: string;
    provider: string;
    name: string | undefined;
    apiKey: string;
    createdBy: string | null;
  },
): Promise<Connection> {
  const provider = providers.find(input.provider);
  const { auth } = provider;
  if (auth.kind !== 'api_key') {
    throw new AppError('invalid_request', 'provider: connects by signing in, not with an API key');
  }
  const headers = { authorization: `${auth.scheme} ${input.apiKey}` };
  const draft = managedDraft(provider, { ...input, auth: 'api_key' });
  const verified = await verifyCredential(outbound, provider, draft, headers);
  if (verified.kind === 'rejected') {
    throw new AppError('invalid_request', 'apiKey: the provider does not accept this key');
  }
  if (verified.kind === 'failed') {
    throw new AppError(
      'provider_error',
      'The key could not be verified at the provider; try again.',
    );
  }
  return insertConnection(database, {
    ...draft,
    accountLabel: verified.accountLabel,
    server: verified.server,
    checkedAt: new Date(),
    sealedCredentials: connectionSecrets.seal(input.id, { kind: 'headers', headers }),
    credentialsExpireAt: null,
  });
}
