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
    if (input === undefined && isPlainPost(init)) {
      const headers = new Headers(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8');
      const { redirect = 'follow' } = init;
      return { url, method: 'POST', headers, body: Buffer.from(init.body), redirect };
    }
    // Without the signal, which `Request` would listen to for as long as it lives.
    const request = new Request(input ?? url, { ...init, signal: null });
    const { method, redirect } = request;
    const headers = new Headers(request.headers);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    return { url, method, headers, body, redirect };
  } catch {
    // The reason would quote the header or body that is at fault, which may be a credential.
    throw new OutboundError('protocol_error', 'the request has an invalid method, header or body', {
      host: url.host,
      mayHaveArrived: false,
    });
  }
}

/** Recognizes a posted text, which is what JSON-RPC sends: it needs no stream to be read. */
function isPlainPost(init: RequestInit | undefined): init is RequestInit & { body: string } {
  return typeof init?.body === 'string' && init.method?.toUpperCase() === 'POST';
}
