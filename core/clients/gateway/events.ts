import { parseJson } from '#lib/exact-json/parse.ts';
import { isJsonObject, jsonObjectsIn, type JsonObject } from '#lib/json.ts';
import { isSaid, wordsBeside } from './error-body.ts';
import { finishWord } from './finish-words.ts';

/** An error in a response with status 200, in the form of a usual error response: its body and its status. */
export interface Fault {
  readonly body: string;
  /** Status of the error; undefined if the error names none. */
  readonly status: number | undefined;
  /** The finish reason that comes with the error. */
  readonly finishWord?: string | undefined;
}

/** An event of a stream: a part of a completion, the end, an error, or an event to ignore. */
export type StreamEvent =
  | { readonly kind: 'chunk'; readonly chunk: JsonObject }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'done' }
  | { readonly kind: 'pass' };

const DONE: StreamEvent = { kind: 'done' };
const PASS: StreamEvent = { kind: 'pass' };

/**
 * Reads the data of one server-sent event. An error in any place of the data makes the event a fault, and so does a
 * text that is not JSON. Comments and pings are ignored.
 * @param name the event's `event` field
 */
export function readEvents(data: string, name?: string): readonly StreamEvent[] {
  const text = data.trim();
  if (text === '[DONE]') return [DONE];
  const isError = isErrorName(name);
  const value = parseJson(text);
  // Most events name no error: return at once.
  if (!isError && isJsonObject(value) && isChunk(value) && !text.includes('rror')) {
    return [{ kind: 'chunk', chunk: value }];
  }
  if (Array.isArray(value)) return value.map((each) => eventOf(each, isError, name));
  if (value === undefined || typeof value === 'string') return [readText(value ?? text, isError, name)];
  return [eventOf(value, isError, name)];
}

/** Tells whether every event with this name is an error. */
export function isErrorName(name: string | undefined): boolean {
  return name !== undefined && /^(?:error|exception)$/i.test(name.trim());
}

function readText(said: string, isError: boolean, name: string | undefined): StreamEvent {
  const text = said.trim();
  if (isError) return { kind: 'fault', fault: textFault(text) };
  if (/^["']?\[\s*done\s*\]["']?$/i.test(text)) return DONE;
  const isNamed = name !== undefined && !/^(?:message|chunk|data)$/i.test(name.trim());
  if (text === '' || isNamed || PING.test(text)) return PASS;
  return { kind: 'fault', fault: textFault(text) };
}

const PING = /^[\s:.]*(?:\w+ )?(?:ping|pong|heart[-_ ]?beat|keep[-_ ]?alive|processing)[\s:.]*$/i;

function eventOf(value: unknown, isError: boolean, name: string | undefined): StreamEvent {
  if (!isJsonObject(value)) return PASS;
  const fault = faultIn(value, isError, name);
  if (fault !== undefined) return { kind: 'fault', fault };
  return isChunk(value) ? { kind: 'chunk', chunk: value } : PASS;
}

/**
 * Makes the fault of a text that is not JSON. A broken chunk contains only words of the model, so its fault gets no
 * body.
 */
export function textFault(text: string): Fault {
  if (/^[{[][\s\S]{0,2000}"choices"/.test(text)) return { body: '', status: undefined };
  return { body: text, status: statusInWords(text.slice(0, 200)) };
}

/** Returns the error that a JSON object names; undefined for a chunk, a completion or a ping. */
export function faultIn(value: JsonObject, isError = false, name?: string): Fault | undefined {
  const choices = jsonObjectsIn(value['choices']).flatMap((choice) => [choice, choice['delta'], choice['message']]);
  const errors = [value, value['x_groq'], ...choices].flatMap(errorsIn);
  if (errors.length === 0 && !isError && (isChunk(value) || !namesError(value, name))) return undefined;
  // An error may be only a flag or a name: take the words of the fields beside it.
  const beside = errors.some(isJsonObject) ? [] : wordsBeside(value);
  const { type, code, param } = value;
  const told = [...new Set([...errors.filter((each) => each !== true), ...beside])];
  const named = [...errors, ...errors.flatMap(errorsIn), value];
  const word = finishWord(jsonObjectsIn(value['choices'])[0]?.['finish_reason']);
  return { body: JSON.stringify({ type, code, param, error: told }), status: statusOf(named), finishWord: word };
}

function errorsIn(value: unknown): unknown[] {
  return isJsonObject(value) ? [value['error'], value['errors'], value['Error']].filter(isSaid) : [];
}

function isChunk(value: JsonObject): boolean {
  return jsonObjectsIn(value['choices']).length > 0 || isJsonObject(value['usage']);
}

const ERROR_NAME = /error|exception|fail/i;

function namesError(value: JsonObject, name: string | undefined): boolean {
  const kinds = [value['type'], value['object'], value['status'], value['event']].map(String);
  if (kinds.some((kind) => ERROR_NAME.test(kind)) || value['success'] === false) return true;
  if ([name ?? '', ...kinds].some((kind) => PING.test(kind))) return false;
  if ([0, 200].includes(Number(value['code'] ?? 1))) return false;
  return statusOf([value]) !== undefined || wordsBeside(value).length > 0;
}

/** Returns the HTTP status that errors state as a number or a name; undefined if they state none. */
function statusOf(errors: readonly unknown[]): number | undefined {
  for (const error of errors.filter(isJsonObject)) {
    for (const name of STATUS_FIELDS) {
      const status = Number(error[name]);
      if (Number.isInteger(status) && status >= 400 && status < 600) return status;
    }
  }
  const names = errors.flatMap((error) =>
    isJsonObject(error) ? ['type', 'code', 'status', 'message', 'msg', 'detail'].map((name) => error[name]) : [error],
  );
  return statusInWords(
    names
      .filter((each) => typeof each === 'string')
      .map((each) => each.slice(0, 200))
      .join('\n'),
  );
}

const STATUS_FIELDS = ['code', 'status', 'status_code', 'statusCode', 'http_status', 'httpStatus', 'http_code'];

function statusInWords(words: string): number | undefined {
  const status = /(?:\b(?:error|status|code|http)\b[^\d\n]{0,12}|^\s*)([45]\d\d)\b/im.exec(words)?.[1];
  if (status !== undefined) return Number(status);
  return STATUS_NAMES.find(([, pattern]) => pattern.test(words))?.[0];
}

/** HTTP statuses for errors that have a name instead of a number. */
const STATUS_NAMES: readonly (readonly [number, RegExp])[] = [
  [429, /rate[ _-]?limit|too[ _-]?many[ _-]?requests|resource[ _-]?exhausted|throttl/i],
  [401, /^(?:authentication_error|invalid_api_key|unauthenticated|unauthorized)$/im],
  [403, /^(?:permission_error|permission_denied|forbidden)$/im],
  [400, /^(?:invalid_request_error|invalid_argument|bad_?request(?:_?error)?)$/im],
];
