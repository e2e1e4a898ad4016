import { isJsonObject, jsonObjectsIn, parseJson, type JsonObject } from '#lib/json.ts';

/** An error body of a model server, taken apart. */
export interface ErrorBody {
  /** The error's text for a person. */
  readonly told: string;
  /** All texts of the error, including `type` and `code`. */
  readonly said: string;
  /** Places in the request that the error names as `param` or `loc`, such as `messages.2.reasoning_content`. */
  readonly places: readonly string[];
}

/** Reads an error body in the form of OpenAI, OpenRouter, FastAPI or Mistral, or as plain text or an HTML page. */
export function readErrorBody(body: string): ErrorBody {
  const value = parseJson(body);
  if (value === undefined) {
    // A truncated body cannot be parsed as JSON: find its message by a pattern.
    const begin = body.startsWith('{') ? /"(?:message|detail|msg)"\s*:\s*"/.exec(body) : null;
    const text = body
      .slice(begin === null ? 0 : begin.index + begin[0].length)
      .replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
      .replaceAll(/<[^>]{0,500}>/g, ' ');
    return { told: text, said: text, places: [] };
  }
  return {
    told: wordsIn(value, []).join(' '),
    said: wordsIn(value, ['type', 'code']).join(' '),
    places: placesIn(value),
  };
}

const TOLD = ['message', 'msg', 'detail', 'raw', 'metadata', 'error'];

/** Other names of fields in which servers put the words of an error. */
const WORDS = /^(?:error_?)?(?:msg|message|details?|description)$|^err(?:msg)?$|^error_?(?:code|type)$|^exception$/i;

/** Returns the values of an object under all names that servers give to the words of an error. */
export function wordsBeside(value: JsonObject): unknown[] {
  const { base_resp: base } = value;
  const words = Object.entries(value).flatMap(([name, each]) => (WORDS.test(name) && isSaid(each) ? [each] : []));
  // MiniMax puts its error into `base_resp`.
  if (isJsonObject(base) && isSaid(base['status_code'])) words.push(base['status_msg']);
  return words;
}

/** Tells whether an `error` says anything: some servers send an empty `error` with every chunk. */
export function isSaid(error: unknown): boolean {
  if (Array.isArray(error)) return error.some(isSaid);
  if (isJsonObject(error)) return Object.values(error).some(isSaid);
  return error !== undefined && error !== null && error !== false && error !== 0 && error !== '';
}

const MAX_DEPTH = 5;
const MAX_ITEMS = 20;

/**
 * Collects the words of an error, including words in JSON within a text.
 * @param kinds further field names whose values count as words
 */
function wordsIn(value: unknown, kinds: readonly string[], depth = 0): string[] {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parseJson(value) : undefined;
    return inner === undefined ? [value] : wordsIn(inner, kinds, depth + 1);
  }
  if (depth > MAX_DEPTH) return [];
  const within = (each: unknown) => wordsIn(each, kinds, depth + 1);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).flatMap(within);
  if (!isJsonObject(value)) return [];
  const words = [...kinds, ...TOLD].flatMap((name) => (name in value ? within(value[name]) : []));
  // An `error` may be only a flag or a name. Then the words of the error are in another field.
  const isTold = TOLD.some((name) => (name === 'error' ? isJsonObject(value[name]) : isSaid(value[name])));
  return isTold ? words : [...words, ...wordsBeside(value).flatMap(within)];
}

function placesIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (typeof value === 'string') return value.startsWith('{') ? placesIn(parseJson(value), depth + 1) : [];
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).flatMap((each) => placesIn(each, depth + 1));
  if (!isJsonObject(value)) return [];
  const { param, loc } = value;
  const within = TOLD.flatMap((name) => (name in value ? placesIn(value[name], depth + 1) : []));
  return [
    ...(typeof param === 'string' && param !== '' ? [param.replaceAll(/\.?\[(\d+)\]/g, '.$1')] : []),
    // FastAPI's `loc` begins with the part of the request, such as `body`.
    ...(Array.isArray(loc) ? [loc.filter((part, at) => at > 0 || part !== 'body').join('.')] : []),
    ...within,
  ];
}

/** Removes the names and texts of a request's prompt, tools and schema from a server's words. */
export function withoutOwnTexts(said: string, sent: JsonObject): string {
  const format = isJsonObject(sent['response_format']) ? sent['response_format']['json_schema'] : undefined;
  const schema = isJsonObject(format) ? format['schema'] : undefined;
  const written = [...textsIn([schema, jsonObjectsIn(sent['tools']).map(chosenIn)]), ...promptTexts(sent)];
  const names = new Set(written.filter((text) => NAME.test(text)).map((text) => text.toLowerCase()));
  const words = said.slice(0, LOOKED_AT).replaceAll(WORD, (word, at: number, all: string) => {
    const isName = names.has(word.toLowerCase());
    // A tool may have a parameter `input`: such a common word is a name only in quotes.
    const isMarked = IDENTIFIER.test(word) || (MARK.test(all[at - 1] ?? '') && MARK.test(all[at + word.length] ?? ''));
    return isName && isMarked ? '[…]' : word;
  });
  return withoutQuotes(words, written.join('\n'), QUOTE);
}

/** Number of characters that are read of an error's text. Servers name the subject of the error first. */
const LOOKED_AT = 2_000;

/** A piece of this many characters that also occurs in the request counts as a quotation. */
const QUOTE = 20;

const NAME = /^[\p{L}\p{N}_$-]{1,100}$/u;
const WORD = /[\p{L}\p{N}_$-]+/gu;
const IDENTIFIER = /[\p{L}\p{N}][_$\p{N}]|\p{Ll}\p{Lu}/u;
const MARK = /[^\p{L}\p{N}\s]/u;

/** Returns all texts of the messages of a request. */
export function promptTexts(sent: JsonObject): string[] {
  return jsonObjectsIn(sent['messages']).flatMap((message) => [
    ...textsIn(jsonObjectsIn(message['content']).map((part) => part['text'] ?? '')),
    ...(typeof message['content'] === 'string' ? [message['content']] : []),
    ...textsIn(jsonObjectsIn(message['tool_calls']).map(chosenIn)),
  ]);
}

/** Returns the parts of a function that a tenant or the model chose. The protocol fixes the other parts. */
function chosenIn({ function: called }: JsonObject): unknown {
  if (!isJsonObject(called)) return undefined;
  const { name, description, parameters, arguments: args } = called;
  return [name, description, parameters, typeof args === 'string' ? (parseJson(args) ?? args) : args];
}

/** Depth limit: deeper than any accepted schema, yet a model's arguments cannot overflow the stack. */
const DEEPEST = 200;

function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (depth > DEEPEST) return [];
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, depth + 1));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsIn(each, depth + 1)]);
}

/**
 * Replaces quotations of a text by `[…]`.
 * @param least length of a common piece that counts as a quotation
 */
export function withoutQuotes(words: string, quoted: string, least: number): string {
  // Index the long text once: searching it for each piece of the words would take the product of both lengths.
  const pieces = new Map<string, number[]>();
  for (let at = 0; at + least <= words.length; at += 1) {
    const piece = words.slice(at, at + least);
    const starts = pieces.get(piece);
    if (starts === undefined) pieces.set(piece, [at]);
    else starts.push(at);
  }
  const isQuoted = new Uint8Array(words.length);
  for (let at = 0; at + least <= quoted.length && pieces.size > 0; at += 1) {
    const piece = quoted.slice(at, at + least);
    for (const start of pieces.get(piece) ?? []) isQuoted.fill(1, start, start + least);
    pieces.delete(piece);
  }
  let result = '';
  for (let at = 0; at < words.length; at += 1) {
    if (isQuoted[at] !== 1) result += words[at];
    else if (at === 0 || isQuoted[at - 1] !== 1) result += '[…]';
  }
  return result;
}
