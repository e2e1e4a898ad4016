import { fetch, type Dispatcher, type Response } from 'undici';
import { exchangeFault, OutboundError } from './errors.ts';

export interface OutboundRequest {
  url: URL;
  method: string;
  headers: Headers;
  body: Uint8Array | undefined;
}

/** Sends one request once and resolves when the headers have arrived. A redirect is a response like any other. */
export async function exchange(
  request: OutboundRequest,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Response> {
  const { url, method, body } = request;
  try {
    return await fetch(url, {
      method,
      headers: [...sendableHeaders(request)],
      redirect: 'manual',
      dispatcher: body === undefined ? dispatcher : sendingWhole(body, dispatcher),
      signal,
      ...(body === undefined ? {} : { body: streamOnce(body), duplex: 'half' }),
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw exchangeFault(error, url.host);
  }
}

/** A caller's `Host` would change the TLS server name, and the other headers would break the framing. */
function sendableHeaders({ headers, body }: OutboundRequest): Headers {
  const sendable = new Headers(headers);
  for (const name of CONNECTION_HEADERS) sendable.delete(name);
  if (body !== undefined) sendable.set('content-length', String(body.byteLength));
  return sendable;
}

const CONNECTION_HEADERS = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** `fetch` would write the body after the headers; all bytes are known here, so both are sent in one packet. */
function sendingWhole(body: Uint8Array, dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch({ ...options, body }, handler));
}

/** After a 421, `fetch` would send a body again that can be read twice. */
function streamOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body);
      controller.close();
    },
  });
}

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
    // Without the signal, to which `Request` would listen for as long as it lives.
    const request = new Request(input ?? url, { ...init, signal: null });
    const { method, redirect } = request;
    const headers = new Headers(request.headers);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    return { url, method, headers, body, redirect };
  } catch {
    // The reason is left out, because it would quote the faulty header or body, which may be a credential.
    throw new OutboundError('protocol_error', 'the request has an invalid method, header or body', {
      host: url.host,
      mayHaveArrived: false,
    });
  }
}

/** JSON-RPC posts a text, which needs no stream to be read. */
function isPlainPost(init: RequestInit | undefined): init is RequestInit & { body: string } {
  return typeof init?.body === 'string' && init.method?.toUpperCase() === 'POST';
}
