import { parseJson } from '#lib/exact-json/parse.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { cut } from '#lib/text.ts';
import { readDiscovery, readHandshake } from './read-handshake.ts';

/** A request of this service, for matching the messages of its response. */
export interface Asked {
  readonly id: number | string;
  readonly method: string;
}

/** Receives the parts of a response that the library does not see. */
export interface Hold {
  result(value: unknown): void;
  /**
   * Called when the error of the response names no request. The library gets such an error with the id of this request.
   */
  unnamedError(): void;
}

/**
 * Rewrites the JSON-RPC messages of a response so that the MCP library accepts them, even if the server writes loosely:
 * the library sees a well-formed envelope and handshake. The library never sees the result of a `tools/…` request: the
 * result is kept aside and read part by part. Only this module parses the text of the protocol.
 * @returns the same text when it is not JSON
 */
export function mendMessages(text: string, asked: Asked, hold: Hold): string {
  const parsed = parseText(text);
  if (parsed === undefined) return text;
  const mended = Array.isArray(parsed) ? parsed.map((each) => mend(each, asked, hold)) : mend(parsed, asked, hold);
  return JSON.stringify(mended);
}

function parseText(text: string): unknown {
  return parseJson(text.replace(/^\uFEFF/, ''));
}

/** The JSON-RPC error that the body of a response states about a request. */
export interface StatedError {
  /** True when the error names the request. */
  readonly isOurs: boolean;
  /** True for an error of JSON-RPC; other errors with a message may come from a gateway. */
  readonly isJsonRpc: boolean;
  readonly words: string;
}

/** Returns undefined if the body states no error, or the error of another request. */
export function statedError(text: string, asked?: Asked): StatedError | undefined {
  const parsed = parseText(text);
  for (const each of Array.isArray(parsed) ? parsed : [parsed]) {
    if (!isJsonObject(each) || !isJsonObject(each['error'])) continue;
    const isOurs = asked !== undefined && isIdOf(asked, each['id']);
    if (isOurs || !isGiven(each['id'])) {
      return { isOurs, isJsonRpc: isOurs || isGiven(each['jsonrpc']), words: wordsOf(readError(each['error'])) };
    }
  }
  return undefined;
}

/** Returns a server's own words, cut for the record: the message of its error, and its `data`. */
export function wordsOf(error: { readonly message: string; readonly data?: unknown }): string {
  const { message, data } = error;
  const more = data === undefined || data === null || data === '' ? '' : stated(data);
  return cut(more === '' || message.includes(more) ? message : `${message}\n${more}`, MAX_WORDS_LENGTH);
}

const MAX_WORDS_LENGTH = 2_000;

function stated(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/**
 * Tells whether a server says by an HTTP status that it no longer knows the session of a request. MCP requires 404; 400
 * and 410 are common, and gateways respond with 401 to requests without credentials.
 */
export function isStatusOfLostSession(status: number): boolean {
  return STATUSES.has(status);
}

const STATUSES: ReadonlySet<number> = new Set([400, 401, 404, 410]);

/**
 * Tells whether a JSON-RPC error reports an unknown session: by its words or, if the words say nothing, by a code that
 * servers use for unknown sessions.
 */
export function speaksOfLostSession(
  { code, words }: { readonly code: number; readonly words: string },
  { hasSession }: { readonly hasSession: boolean },
): boolean {
  if (LOST.test(words) || NO_SESSION.test(words) || NOT_INITIALIZED.test(words)) return true;
  return hasSession && CODES.has(code) && SAYS_NOTHING.test(words);
}

const LOST =
  /\bsession\b[^.;\n]{0,80}?\b(?:not (?:be )?(?:found|known|exist|valid|active|recogni[sz]ed)|no(?:t any)? longer|unknown|unrecogni[sz]ed|expired|invalid|inactive|terminated|closed|ended|missing|required|gone|lost|stale|timed out|(?:does|did)(?: not|n't) exist|has been (?:deleted|removed))\b/i;
const NO_SESSION =
  /\b(?:no|unknown|invalid|expired|missing|stale|unrecogni[sz]ed|lost|without|bad|terminated|closed)(?: (?:a|an|or|any|such|valid|active|open|current|existing|expired|invalid|mcp))*[ -](?:mcp[ -])?session\b/i;
const NOT_INITIALIZED =
  /\b(?:(?:not|never)(?: been| yet)*|un)[ -]?initiali[sz]ed\b|\bbefore initiali[sz]|\binitiali[sz]ation (?:was|is) (?:not|in)[ -]?complete|\bmust (?:be )?initiali[sz]e|\binitiali[sz]e (?:the session )?first\b/i;

const CODES: ReadonlySet<number> = new Set([-32001, -32600]);
const SAYS_NOTHING = /^\W*(?:error|invalid request|bad request|not found|gone|unauthori[sz]ed)?\W*$/i;

function mend(message: unknown, asked: Asked, hold: Hold): unknown {
  if (!isJsonObject(message)) return message;
  const envelope = { ...message, jsonrpc: '2.0' };
  // The message is a request or a notification of the server.
  if (isGiven(message['method'])) return isGiven(message['params']) ? envelope : { ...envelope, params: undefined };
  const { id, result, error } = message;
  if (isGiven(error)) {
    if (!isGiven(id)) hold.unnamedError();
    const isForUs = isIdOf(asked, id) || !isGiven(id);
    return { jsonrpc: '2.0', id: isForUs ? asked.id : id, error: readError(error) };
  }
  if (!isIdOf(asked, id)) return envelope;
  return { jsonrpc: '2.0', id: asked.id, result: readAnswer(result, asked, hold) };
}

/**
 * Returns the result that the library sees: a stand-in for a complete result of `tools/…`. Results that ask for more,
 * such as `input_required`, go to the library unchanged.
 */
function readAnswer(result: unknown, { method }: Asked, hold: Hold): unknown {
  if (method === 'initialize') return readHandshake(result);
  if (method === 'server/discover') return readDiscovery(result);
  const placeholder = PLACEHOLDERS[method];
  if (placeholder === undefined) return result;
  const kind = isJsonObject(result) ? result['resultType'] : undefined;
  if (isGiven(kind) && kind !== 'complete') return result;
  hold.result(result);
  return placeholder;
}

/**
 * Placeholder results for the MCP library, valid in all revisions of the protocol. The real results are read elsewhere.
 */
const PLACEHOLDERS: Readonly<Record<string, JsonObject>> = {
  'tools/list': { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' },
  'tools/call': { resultType: 'complete', content: [] },
  ping: {},
};

/** Tells whether a request belongs to an open session and does not open a new one. */
export function isOfSession({ method }: Asked): boolean {
  return method in PLACEHOLDERS;
}

function readError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!isJsonObject(error)) return { code: UNSTATED, message: stated(error) };
  const { code, message, data } = error;
  const number = typeof code === 'string' && code !== '' ? Number(code) : code;
  const words = typeof message === 'string' ? message : isGiven(message) ? stated(message) : '';
  return {
    code: typeof number === 'number' && Number.isSafeInteger(number) ? number : UNSTATED,
    message: words,
    ...(isGiven(data) ? { data } : {}),
  };
}

/** JSON-RPC's code for an internal error, used for an error without a code. */
const UNSTATED = -32603;

function isIdOf(asked: Asked, id: unknown): boolean {
  return (typeof id === 'number' || typeof id === 'string') && String(id) === String(asked.id);
}

/** Tells whether a member has a value. Servers write null, false or an empty text for a missing value. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}
