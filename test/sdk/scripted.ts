import type { IncomingMessage, ServerResponse } from 'node:http';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { Ras, type RasOptions } from '../../sdk/src/index.ts';

export interface Response {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value that is sent as JSON, or a text that is sent unchanged. */
  readonly body?: unknown;
}

/** Cuts the connection in the middle of the response. */
export const CUT = 'cut';
/** Never responds. */
export const HANG = 'hang';

/**
 * Starts a server that gives these responses in order and then repeats the last one. The client does not pause between
 * attempts.
 */
export async function scripted(responses: readonly (Response | typeof CUT | typeof HANG)[], options: RasOptions = {}) {
  let count = 0;
  const server = await startReceiver((_, response) => {
    const next = responses[Math.min(count, responses.length - 1)];
    count += 1;
    if (next === HANG) return;
    if (next === CUT) return cut(response);
    const { status = 200, headers, body = { data: {}, requestId: 'req-1' } } = next ?? {};
    response.writeHead(status, { 'Retry-After': '0', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const ras = new Ras({ apiKey: 'ras_canary', baseUrl: server.origin, ...options });
  return { ras, requests: server.received, origin: server.origin };
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Starts a server of the test's own. */
export async function served(listener: Listener) {
  const server = await startReceiver(listener);
  const ras = new Ras({ apiKey: 'ras_canary', baseUrl: server.origin });
  return { ras, requests: server.received };
}

/** Makes the body of an error like the service. */
export function failure(code: string, message = 'The message.') {
  return { error: { code, message }, requestId: 'req-1' };
}

function cut(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Length': '1000' });
  response.write('{"data":', () => response.destroy());
}

/** Reads all items. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
