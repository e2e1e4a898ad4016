import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import getRawBody from 'raw-body';
import { AppError, invalid, type Fault } from '#lib/errors.ts';
import { doubledName, NAMED_TWICE } from '#lib/exact-json/faults.ts';
import { findExact, isTooLong, mayBeExact, parseExact, sendAsText } from '#lib/exact-json/parse.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
const TOO_DEEP: Fault = { path: 'body', message: `nested deeper than ${MAX_DEPTH} levels` };
/** A body up to this size is parsed and checked within a millisecond. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Tells whether the request announces a body at all (RFC 9112, section 6.3). */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Tells whether the caller waits for a response before sending the body (RFC 9110, section 10.1.1). */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Reads the body, up to `limit` bytes.
 * @throws {AppError} `body_too_large`, without reading anything if the announced length is too large
 */
export async function readBody({ req: request, res }: Exchange, limit = MAX_BODY_BYTES): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (awaitsContinue(request) && announced <= limit) res.writeContinue();
  try {
    return await getRawBody(request, {
      limit,
      length: request.headers['content-length'] ?? null,
    });
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? error.type : undefined;
    if (type === 'entity.too.large') {
      // Read the rest of the body, which is still arriving: otherwise a reset could destroy the response.
      request.resume();
      throw new AppError('body_too_large', `The request body is larger than ${limit / 1024} kB.`, {
        Connection: 'close',
      });
    }
    throw new AppError('invalid_request', 'The request body ended before its announced length.');
  }
}

/**
 * Reads the JSON value of a request. Only `application/json` in UTF-8 is parsed, never text or forms, so a form on a
 * foreign page cannot be a valid request.
 * @throws {AppError} `unsupported_media_type`, `body_too_large`, `invalid_json`, `invalid_request`
 */
export async function readJson(
  exchange: Exchange,
  limit = MAX_BODY_BYTES,
): Promise<{ readonly raw: Buffer; readonly value: unknown }> {
  const { headers } = exchange.req;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';');
  const charset = parameters.find((parameter) => parameter.trim().toLowerCase().startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/i.test(charset.trim());
  if (type.trim().toLowerCase() !== 'application/json' || !utf8) {
    throw new AppError('unsupported_media_type');
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body without a content encoding.');
  }
  const raw = await readBody(exchange, limit);
  if (raw.length > SMALL_BODY_BYTES) await ownTurn();
  const value = parseBody(raw);
  return { raw, value };
}

let lastTurn: Promise<void> = Promise.resolve();

/** Waits until no other large body is being parsed. Parsing thirty at once would block the event loop. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

/** @throws {AppError} `invalid_json`, `invalid_request` that names values that cannot be stored */
function parseBody(raw: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
    const value = parseExact(text);
    assertStorable(value);
    assertWhole(text, value);
    return value;
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof RangeError) throw invalid([TOO_DEEP]);
    const position = error instanceof SyntaxError ? /position \d+/.exec(error.message)?.[0] : undefined;
    throw new AppError(
      'invalid_json',
      error instanceof SyntaxError
        ? `The request body is not valid JSON${position === undefined ? '' : ` (at ${position})`}.`
        : 'The request body is not valid UTF-8.',
    );
  }
}

function assertWhole(text: string, value: unknown): void {
  const doubled = doubledName(text, value);
  if (doubled !== undefined) throw invalid([{ path: showPath(doubled), message: NAMED_TWICE }]);
  const found = mayBeExact(text) ? findExact(value, isTooLong) : undefined;
  if (found !== undefined) throw invalid([{ path: showPath(found.path), message: sendAsText(found.number) }]);
}

/**
 * Refuses texts that cannot be stored: a NUL, which Postgres does not accept, and a lone surrogate, which UTF-8 cannot
 * encode.
 * @throws {AppError} `invalid_request` that names each place
 */
export function assertStorable(value: unknown): void {
  const faults: Fault[] = [];
  findUnstorable(value, [], faults);
  if (faults.length > 0) throw invalid(faults);
}

function findUnstorable(value: unknown, path: readonly (string | number)[], faults: Fault[]): void {
  if (path.length > MAX_DEPTH) {
    faults.push(TOO_DEEP);
    return;
  }
  if (faults.length > 0 && faults.at(-1)?.path === 'body') return;
  if (typeof value === 'string') {
    const message = faultOfText(value);
    if (message !== undefined) faults.push({ path: showPath(path), message });
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => findUnstorable(item, [...path, index], faults));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const bad = faultOfText(key);
      if (bad !== undefined) {
        faults.push({ path: showPath(path), message: `a field name here ${bad}` });
      } else if (key === '__proto__') {
        faults.push({ path: showPath([...path, key]), message: 'not a usable name' });
      } else {
        findUnstorable(item, [...path, key], faults);
      }
    }
  }
}

function faultOfText(text: string): string | undefined {
  if (text.includes('\u0000')) return 'contains a NUL character';
  return text.isWellFormed() ? undefined : 'contains a lone surrogate';
}

/** Writes a path as text: `skills[3]` for `['skills', 3]`, `body` for the body itself. */
export function showPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text === '' ? 'body' : text.replace(/^\./, '');
}
