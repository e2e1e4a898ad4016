import { checkToolServer, fixedCredentials, ToolServerError, type ServerInfo } from '#core/clients/mcp/index.ts';
import { AppError } from '#lib/errors.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { valueAt, valuesAt } from '#lib/provider-file/index.ts';
import type { ConnectionsCore } from '../core.ts';
import type { Connection } from '../store/connection.ts';
import type { AccountsLookup, ProviderRequest, Provider } from './catalogue.ts';

/**
 * Lists the accounts that the connection's credentials can see now; empty if the provider has no such list.
 * @throws {AppError} `connection_not_ready` when the provider refuses the credentials, `provider_error`
 */
export async function listAccounts(
  { outbound, credentials, providers }: Pick<ConnectionsCore, 'credentials' | 'outbound' | 'providers'>,
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
    if (answer.kind === 'rejected') {
      await credentials.refused(connection, other, signal, undefined, true);
      throw new AppError('connection_not_ready');
    }
  }
  const accounts = answer.kind === 'answered' ? readAccounts(lookup, answer.body) : undefined;
  if (accounts === undefined) {
    throw new AppError('provider_error', 'The provider did not list the accounts.');
  }
  return accounts;
}

/** An account, site, property or workspace that a credential can see. */
interface ProviderAccount {
  readonly id: string;
  readonly name: string;
}

const MAX_ACCOUNTS = 1_000;
const MAX_TEXT = 200;

function readAccounts(lookup: AccountsLookup, body: unknown): ProviderAccount[] | undefined {
  if (lookup.success !== undefined && valueAt(body, lookup.success) !== true) return undefined;
  return valuesAt(body, lookup.list)
    .flatMap((item) => {
      const id = textAt(item, lookup.id);
      return id === undefined ? [] : [{ id, name: textAt(item, lookup.name) ?? id }];
    })
    .slice(0, MAX_ACCOUNTS);
}

function accountLabel(accounts: readonly ProviderAccount[]): string | null {
  const [first] = accounts;
  if (first === undefined) return null;
  return accounts.length === 1 ? first.name : `${first.name} and ${accounts.length - 1} more`;
}

function textAt(item: unknown, path: string): string | undefined {
  const value = valueAt(item, path);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined;
}

/**
 * Result of a call: `rejected` for a credential that the provider does not know, `forbidden` for a credential without
 * the right to make this call.
 */
type ProviderResult =
  | { readonly kind: 'answered'; readonly body: unknown }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'failed' };

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Calls the provider through the guarded client. Never throws for a fault of the provider. */
async function callProvider(
  outbound: OutboundClient,
  { method, url, headers, json }: ProviderRequest,
  credential: Readonly<Record<string, string>>,
): Promise<ProviderResult> {
  try {
    const { status, body } = await outbound.request({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...headers,
        ...credential,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    if (status === 401) return { kind: 'rejected' };
    if (status === 403) return { kind: 'forbidden' };
    if (status < 200 || status > 299) return { kind: 'failed' };
    return { kind: 'answered', body: JSON.parse(body.toString('utf8')) as unknown };
  } catch {
    return { kind: 'failed' };
  }
}

export type Verification =
  | {
      readonly kind: 'good';
      readonly accountLabel: string | null;
      readonly server: ServerInfo | null;
    }
  /** The provider refuses the credential. */
  | { readonly kind: 'rejected' }
  | { readonly kind: 'failed' };

/** Tries a credential at the provider's list of accounts if there is one, else at its tool server. */
export async function verifyCredential(
  outbound: OutboundClient,
  provider: Provider,
  url: string | null,
  headers: Readonly<Record<string, string>>,
): Promise<Verification> {
  const { accounts: lookup } = provider;
  if (lookup === null) return verifyAtToolServer(outbound, url, headers);
  const answer = await callProvider(outbound, lookup.request, headers);
  if (answer.kind === 'failed') return { kind: 'failed' };
  const accounts = answer.kind === 'answered' ? readAccounts(lookup, answer.body) : undefined;
  if (accounts === undefined) return { kind: 'rejected' };
  return { kind: 'good', accountLabel: accountLabel(accounts), server: null };
}

export async function verifyAtToolServer(
  outbound: OutboundClient,
  url: string | null,
  headers: Readonly<Record<string, string>>,
): Promise<Verification> {
  if (url === null) return { kind: 'failed' };
  try {
    const credentials = fixedCredentials(headers);
    const server = await checkToolServer({ outbound }, { url, credentials });
    return { kind: 'good', accountLabel: null, server };
  } catch (error) {
    if (error instanceof ToolServerError) return { kind: error.isDenial ? 'rejected' : 'failed' };
    if (error instanceof AppError) return { kind: 'failed' };
    throw error;
  }
}
