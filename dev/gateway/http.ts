import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Thrown to respond with OpenAI's error envelope. */
export class GatewayError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;

  constructor(status: number, type: string, code: string | null, message: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
  }
}

const MAX_BODY_BYTES = 50_000_000;

/** Reads a JSON body; an empty one is undefined. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw invalid('The body is too large.', 413);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw invalid('The body is not JSON.');
  }
}

export function invalid(message: string, status = 400): GatewayError {
  return new GatewayError(status, 'invalid_request_error', null, message);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  send(response, status, 'application/json', JSON.stringify(body), headers);
}

export function sendError(
  response: ServerResponse,
  { status, message, type, code }: GatewayError,
  headers: Record<string, string> = {},
): void {
  sendJson(response, status, { error: { message, type, param: null, code } }, headers);
}

export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Waits for a time, then until it is released. @returns false when the client has gone before */
export async function waited(
  response: ServerResponse,
  ms: number,
  released?: Promise<void>,
): Promise<boolean> {
  if (response.destroyed) return false;
  if (ms === 0 && released === undefined) return true;
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  response.once('close', onClose);
  try {
    await sleep(ms, undefined, { signal: gone.signal });
    await Promise.race([released, once(gone.signal, 'abort')]);
    return !response.destroyed;
  } catch {
    return false;
  } finally {
    response.off('close', onClose);
  }
}
