import { AppError } from '#lib/errors.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { Connection, ServerInfo } from '../connection.ts';
import { checkToolServer } from '../mcp/check.ts';
import { ToolServerFault } from '../mcp/fault.ts';
import { accountLabel, readAccounts } from './accounts.ts';
import { callProvider } from './call.ts';
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
  draft: Connection,
  headers: Readonly<Record<string, string>>,
): Promise<Verification> {
  const { accounts: lookup } = provider;
  if (lookup === null) return verifyAtToolServer(outbound, draft, headers);
  const answer = await callProvider(outbound, lookup.request, headers);
  if (answer.kind === 'failed') return { kind: 'failed' };
  const accounts = answer.kind === 'answered' ? readAccounts(lookup, answer.body) : undefined;
  if (accounts === undefined) return { kind: 'rejected' };
  return { kind: 'good', accountLabel: accountLabel(accounts), server: null };
}

/** Tries a credential with the tool server of a connection that is not stored yet. */
export async function verifyAtToolServer(
  outbound: OutboundClient,
  draft: Connection,
  headers: Readonly<Record<string, string>>,
): Promise<Verification> {
  const credentials = { headers: async () => ({ ...headers }), refused: async () => undefined };
  try {
    const server = await checkToolServer({ outbound, credentials }, draft);
    return { kind: 'good', accountLabel: null, server };
  } catch (error) {
    if (error instanceof ToolServerFault) {
      return { kind: error.kind === 'sign_in' ? 'rejected' : 'failed' };
    }
    if (error instanceof AppError) return { kind: 'failed' };
    throw error;
  }
}
