import { isJsonObject } from '#lib/json.ts';

/**
 * Selects everything at a path of a JSON value: field names with dots between them, `*` for each item of a list. What
 * is not there is left out.
 *
 * @example select({ a: [{ b: 1 }, { b: 2 }] }, 'a.*.b') // [1, 2]
 */
export function select(value: unknown, path: string): unknown[] {
  let found: unknown[] = [value];
  for (const step of path === '' ? [] : path.split('.')) {
    found = found.flatMap((each) => stepInto(each, step));
  }
  return found;
}

function stepInto(value: unknown, step: string): unknown[] {
  if (step === '*') return Array.isArray(value) ? value : [];
  return isJsonObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
}
