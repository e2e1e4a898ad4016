import { isJsonObject } from './json.ts';

/** The form of a JSON Pointer (RFC 6901, section 3). */
export const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Finds the value that a pointer names (RFC 6901, section 4); undefined where there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointer.split('/').slice(1)) {
    value = memberOf(value, token.replaceAll('~1', '/').replaceAll('~0', '~'));
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
