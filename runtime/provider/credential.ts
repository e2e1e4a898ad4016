import type { LoadedProvider } from '#lib/provider-file/index.ts';

/** Access token or key of one call. It lives for that call only and is neither stored nor logged. */
export interface Credential {
  readonly value: string;
  /** Account to be named in a header; null where the provider wants none. */
  readonly account: string | null;
}

/** Returns the headers that only the runtime adds: the file's own, the account, and the credential. */
export function providerHeaders(
  { file }: LoadedProvider,
  credential: Credential,
): Record<string, string> {
  const { api, auth } = file;
  const { value, account } = credential;
  const headers: Record<string, string> = { ...api.headers };
  if (api.accountHeader !== undefined && account !== null)
    headers[api.accountHeader.name] = account;
  if (auth.kind !== 'api_key') headers['authorization'] = `Bearer ${value}`;
  else headers[auth.header] = auth.scheme === '' ? value : `${auth.scheme} ${value}`;
  return headers;
}
