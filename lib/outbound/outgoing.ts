import { OutboundError } from './errors.ts';
import type { OutboundRequest } from './exchange.ts';

/**
 * Reads what fetch accepts as a request into plain parts. Going through Node's own `Request` gives
 * every kind of body its bytes and content type; undici's `fetch` would not recognise Node's
 * `Request`, `Blob` or `FormData`.
 */
export async function readOutgoing(
  url: URL,
  input: Request | undefined,
  init: RequestInit | undefined,
): Promise<OutboundRequest & { redirect: Request['redirect'] }> {
  try {
    // Without the signal, which `Request` would listen to for as long as it lives.
    const request = new Request(input ?? url, { ...init, signal: null });
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const { method, headers, redirect } = request;
    return { url, method, headers: new Headers(headers), body, redirect };
  } catch {
    // The reason would quote the header or body that is at fault, which may be a credential.
    throw new OutboundError('protocol_error', 'the request has an invalid method, header or body', {
      host: url.host,
      mayHaveArrived: false,
    });
  }
}
