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

/**
 * Removes headers that belong to the connection: `Host` would change the TLS server name, and the other headers would
 * break the framing of the request.
 */
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

/** Sends headers and body in one packet, because all bytes are known. `fetch` would write the body later. */
function sendingWhole(body: Uint8Array, dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch({ ...options, body }, handler));
}

/** Makes a body that can be read only once. After a 421, `fetch` would send any other body again. */
function streamOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body);
      controller.close();
    },
  });
}

/**
 * Reads the arguments of a `fetch` into plain parts. Node's own `Request` gives every kind of body its bytes and
 * content type; undici's `fetch` would not recognise Node's `Request`, `Blob` or `FormData`.
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
    // Leave out the signal: `Request` would listen to it for as long as it lives.
    const request = new Request(input ?? url, { ...init, signal: null });
    const { method, redirect } = request;
    const headers = new Headers(request.headers);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    return { url, method, headers, body, redirect };
  } catch {
    // Leave out the reason: it would quote the faulty header or body, which may be a credential.
    throw new OutboundError('protocol_error', 'the request has an invalid method, header or body', {
      host: url.host,
      mayHaveArrived: false,
    });
  }
}

/** Tells whether a request posts a text, as JSON-RPC does: such a body can be read without a stream. */
function isPlainPost(init: RequestInit | undefined): init is RequestInit & { body: string } {
  return typeof init?.body === 'string' && init.method?.toUpperCase() === 'POST';
}
