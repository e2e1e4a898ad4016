import type { AccountsLookup } from './provider.ts';
import { select } from './select.ts';

/** An account, site, property or workspace that a credential can see. */
export interface ProviderAccount {
  readonly id: string;
  readonly name: string;
}

const MAX_ACCOUNTS = 1_000;
const MAX_TEXT = 200;

/** Reads the accounts in a provider's response; undefined when that says it is an error. */
export function readAccounts(lookup: AccountsLookup, body: unknown): ProviderAccount[] | undefined {
  if (lookup.success !== undefined && select(body, lookup.success)[0] !== true) return undefined;
  return select(body, lookup.list)
    .flatMap((item) => {
      const id = textAt(item, lookup.id);
      return id === undefined ? [] : [{ id, name: textAt(item, lookup.name) ?? id }];
    })
    .slice(0, MAX_ACCOUNTS);
}

/** Names the accounts of a connection in one line. */
export function accountLabel(accounts: readonly ProviderAccount[]): string | null {
  const [first] = accounts;
  if (first === undefined) return null;
  return accounts.length === 1 ? first.name : `${first.name} and ${accounts.length - 1} more`;
}

function textAt(item: unknown, path: string): string | undefined {
  const [value] = select(item, path);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined;
}
