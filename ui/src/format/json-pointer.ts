import { ExactNumber } from './exact-number.ts';

/** Returns the tokens of a JSON Pointer (RFC 6901). */
export function tokensOf(pointer: string): readonly string[] {
  const [, ...tokens] = pointer.split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the pointer to a member of the value at a pointer. */
export function memberPointer(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the value at a pointer; undefined if there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  return tokensOf(pointer).reduce<unknown>(memberOf, value);
}

/** Returns a member of an object or a list; undefined without an own member of this name. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns true for an object or a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** Returns true for an object that is not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}
