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
    // A text, which is what JSON-RPC sends, needs no stream to be read through.
    const text = isPlain(init) ? init.body : undefined;
    // Without the signal, which `Request` would listen to for as long as it lives.
    const given = { ...init, signal: null, ...(text === undefined ? {} : { body: null }) };
    const request = new Request(input ?? url, given);
    const { method, redirect } = request;
    const headers = new Headers(request.headers);
    if (text !== undefined) {
      if (!headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8');
      return { url, method, headers, body: Buffer.from(text), redirect };
    }
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

function isPlain(init: RequestInit | undefined): init is RequestInit & { body: string } {
  return typeof init?.body === 'string' && init.method?.toUpperCase() === 'POST';
}
