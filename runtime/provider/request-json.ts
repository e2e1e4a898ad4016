import { outboundErrorIn } from '#lib/outbound/index.ts';
import type { LoadedProvider } from '#lib/provider-file/index.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import { classifyStatus, type Classified } from '../session/classify.ts';

export interface ProviderCall {
  readonly provider: LoadedProvider;
  readonly credential: Credential;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

interface JsonRequest {
  readonly method?: string;
  /** Address to ask; by default the base address of the API. */
  readonly baseUrl?: string | undefined;
  readonly path: string;
  readonly query?: [string, string];
}

export type JsonOutcome = { readonly body: unknown } | { readonly failure: Classified };

/** Makes one request of the runtime itself, with the credential: a list of models or a proof, never a completion. */
export async function requestJson(
  { provider, credential, fetch, signal }: ProviderCall,
  { method = 'GET', baseUrl = provider.file.api.baseUrl, path, query }: JsonRequest,
): Promise<JsonOutcome> {
  const url = new URL(`${baseUrl}${path}`);
  if (query !== undefined) url.searchParams.set(...query);
  try {
    const answer = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...providerHeaders(provider, credential) },
      redirect: 'manual',
      signal,
    });
    const body = parsed(await answer.text());
    if (answer.status === 200) {
      return body === undefined ? { failure: { code: 'malformed', details: {} } } : { body };
    }
    const { status, headers } = answer;
    return {
      failure: classifyStatus({ status, retryAfterMs: retryAfterIn(headers), body }, provider.file.limits),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const isTimeout = outboundErrorIn(error)?.code === 'timeout';
    return {
      failure: isTimeout
        ? { code: 'timeout', details: {} }
        : { code: 'model_error', details: { status: null, retryable: true } },
    };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Access token or key of one call. It is neither stored nor logged. */
export interface Credential {
  readonly value: string;
  /** Account for a header; null if the provider wants none. */
  readonly account: string | null;
}

/** Returns the headers that only the runtime adds: the file's own, the account, and the credential. */
export function providerHeaders({ file }: LoadedProvider, credential: Credential): Record<string, string> {
  const { api, auth } = file;
  const { value, account } = credential;
  const headers: Record<string, string> = { ...api.headers };
  if (api.accountHeader !== undefined && account !== null) headers[api.accountHeader.name] = account;
  if (auth.kind !== 'api_key') headers['authorization'] = `Bearer ${value}`;
  else headers[auth.header] = auth.scheme === '' ? value : `${auth.scheme} ${value}`;
  return headers;
}

/** Reads the wait that a provider requests, in milliseconds. The caller checks whether it is plausible. */
export function retryAfterIn(headers: Headers): number | undefined {
  return parseRetryAfter(headers.get('retry-after'), {
    now: new Date(),
    maxMs: Number.MAX_SAFE_INTEGER,
  });
}
