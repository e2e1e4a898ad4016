import { fetch, type Dispatcher, type Response } from 'undici';
import { exchangeFault } from './faults.ts';

export interface OutboundRequest {
  url: URL;
  method: string;
  headers: Headers;
  body: Uint8Array | undefined;
}

/**
 * Sends one request once and resolves when the headers are there. A redirect is a response like any
 * other.
 */
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
 * Drops the headers that belong to the connection: a caller's `Host` would also change the
 * TLS server name, and the others would break the framing.
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

/**
 * `fetch` hands the body on as a generator, which is written apart from the headers; as the bytes are here, both go
 * out in one packet.
 */
function sendingWhole(body: Uint8Array, dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch({ ...options, body }, handler),
  );
}

/**
 * Makes a body that can be read only once: `fetch` would send a replayable one again when the
 * response is 421.
 */
function streamOnce(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body);
      controller.close();
    },
  });
}
