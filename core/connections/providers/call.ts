import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { ProviderRequest } from './provider.ts';

/**
 * The response of a provider to one call: `rejected` when it does not know the credential, `forbidden` when the
 * credential may not do this. The error may be logged: nothing that the provider sent is in it.
 */
export type ProviderAnswer =
  | { readonly kind: 'answered'; readonly body: unknown }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'failed'; readonly error: string };

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Calls the provider through the guarded client; never throws for what the other side does. */
export async function callProvider(
  outbound: OutboundClient,
  { method, url, headers, json }: ProviderRequest,
  credential: Readonly<Record<string, string>>,
): Promise<ProviderAnswer> {
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
    if (status < 200 || status > 299) return { kind: 'failed', error: `status ${status}` };
    return { kind: 'answered', body: JSON.parse(body.toString('utf8')) as unknown };
  } catch (error) {
    if (error instanceof OutboundError) return { kind: 'failed', error: error.code };
    return { kind: 'failed', error: 'no JSON' };
  }
}
