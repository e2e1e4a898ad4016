import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseExact } from '#lib/exact-json/parse.ts';

/** All fields that the error of a server may have. Each manner makes its own body from these fields. */
export interface ErrorFields {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Faults as pydantic lists them. */
  readonly detail?: readonly unknown[];
}

/** An error that is thrown to respond with this body. */
export class GatewayError extends Error {
  readonly fields: ErrorFields;

  constructor(fields: ErrorFields) {
    super(fields.message);
    this.fields = fields;
  }

  /** Makes an error of the type that goes with the status. */
  static of(status: number, message: string, code: string | null = null): GatewayError {
    const kind = status < 500 ? 'invalid_request_error' : 'server_error';
    const type = status === 429 ? 'rate_limit_error' : kind;
    return new GatewayError({ status, message, type, code, param: null });
  }
}

const MAX_BODY_BYTES = 50_000_000;

/** Reads a JSON body; an empty one is undefined. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw GatewayError.of(413, 'The body is too large.');
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return parseExact(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw GatewayError.of(400, 'The body is not JSON.');
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  send(response, status, 'application/json', JSON.stringify(body), headers);
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

/**
 * Waits for a time, and then for the release.
 * @returns false when the client has left before
 */
export async function waited(response: ServerResponse, ms: number, released?: Promise<void>): Promise<boolean> {
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
