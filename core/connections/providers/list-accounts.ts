import { AppError } from '#lib/errors.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { Connection } from '../store/connection.ts';
import type { CredentialSource } from '../store/credential-source.ts';
import { readAccounts, type ProviderAccount } from './accounts.ts';
import { callProvider } from './call.ts';
import type { ProviderCatalogue } from './catalogue.ts';

export interface ListAccountsDeps {
  readonly outbound: OutboundClient;
  readonly credentials: CredentialSource;
  readonly providers: ProviderCatalogue;
}

/**
 * Lists the accounts that the connection's credentials can see now; none where the provider has no such list.
 * @throws {AppError} `connection_not_ready` when the provider does not take the credentials, `provider_error`
 */
export async function listAccounts(
  { outbound, credentials, providers }: ListAccountsDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<ProviderAccount[]> {
  if (connection.provider === null) return [];
  const { accounts: lookup } = providers.find(connection.provider);
  if (lookup === null) return [];
  const used = await credentials.headers(connection, signal);
  let answer = await callProvider(outbound, lookup.request, used);
  if (answer.kind === 'rejected') {
    const other = await credentials.refused(connection, used, signal);
    if (other === undefined) throw new AppError('connection_not_ready');
    answer = await callProvider(outbound, lookup.request, other);
  }
  const accounts = answer.kind === 'answered' ? readAccounts(lookup, answer.body) : undefined;
  if (accounts === undefined) {
    throw new AppError('provider_error', 'The provider did not list the accounts.');
  }
  return accounts;
}
