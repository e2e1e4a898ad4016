import { storableJson } from '#lib/database/index.ts';

/** Returns the value as the tables store it, so that a step works with exactly what is recorded. */
export function asStored<T>(value: T): T {
  if (value === undefined) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- messages and arguments came out of JSON, so they go through it unchanged
  return JSON.parse(storableJson(value)) as T;
}
