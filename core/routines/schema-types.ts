import type { JsonObject } from '#lib/json.ts';

/** Tells whether a `$ref` names a part of the schema that it stands in, by a plain JSON Pointer. */
export function isLocalReference(reference: string): boolean {
  return reference === '#' || (reference.startsWith('#/') && !reference.includes('%'));
}

/** Returns the types that a schema names; undefined where it names none, or `nullable` adds to them. */
export function typesOf(part: JsonObject): readonly unknown[] | undefined {
  const { type } = part;
  if (type === undefined || 'nullable' in part) return undefined;
  return Array.isArray(type) ? type : [type];
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
