import {
  checkToolServer,
  fixedCredentials,
  ToolServerError,
  type ServerInfo,
} from '#core/mcp/index.ts';
import { AppError } from '#lib/errors.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { accountLabel, callProvider, readAccounts } from './accounts.ts';
import type { Provider } from './provider.ts';

export type Verification =
  | {
      readonly kind: 'good';
      readonly accountLabel: string | null;
      readonly server: ServerInfo | null;
    }
  /** The provider does not take the credential. */
  | { readonly kind: 'rejected' }
  | { readonly kind: 'failed' };

/** Tries a credential where the provider says it can be tried: on its list of accounts, else at its tool server. */
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

/** Tries a credential at a tool server. */
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
    if (error instanceof ToolServerError) {
      return { kind: error.isDenial ? 'rejected' : 'failed' };
    }
    if (error instanceof AppError) return { kind: 'failed' };
    throw error;
  }
}
