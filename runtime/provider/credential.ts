import type { LoadedProvider } from '#lib/provider-file/index.ts';

/** Access token or key of one call. It lives for that call only: nothing keeps or logs it. */
export interface Credential {
  readonly value: string;
  /** Names the account, where the provider wants it in a header. */
  readonly account: string | null;
}

/** The headers that only the runtime adds: the file's own, the account, and the credential. */
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
