import { ExactNumber } from './exact-json/parse.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Returns the objects of an array; an empty list for any other value. */
export function jsonObjectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function withoutUndefined(value: object): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

/** Limit of nesting, far above any real value and far below the stack's limit. */
const MAX_DEPTH = 200;

/**
 * Writes JSON with sorted keys and no white space, in the manner of RFC 8785.
 * @throws {RangeError} when nested too deeply
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
  }
  if (value instanceof ExactNumber) return value.toString();
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  let members = '';
  for (const key of Object.keys(value).toSorted()) {
    const member = value[key];
    if (member === undefined) continue;
    const separator = members === '' ? '' : ',';
    members += `${separator}${JSON.stringify(key)}:${canonicalJson(member, depth + 1)}`;
  }
  return `{${members}}`;
}

/** Matches a JSON Pointer (RFC 6901, section 3). */
export const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Returns the unescaped tokens of a pointer (RFC 6901, section 4). */
export function pointerTokens(pointer: string): string[] {
  const [, ...tokens] = pointer.split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the pointer to a member of the value at a pointer (RFC 6901, section 3). */
export function memberPointer(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Finds the value at a pointer (RFC 6901, section 4); undefined if the document has no such value. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointerTokens(pointer)) {
    value = memberOf(value, token);
    if (value === undefined) return undefined;
  }
  return value;
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    return /^(?:0|[1-9]\d{0,9})$/.test(name) ? (value[Number(name)] as unknown) : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
