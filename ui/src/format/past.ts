import { isRecord, memberOf, valueAt } from './json-pointer.ts';
import type { DataChanges } from './typed-data.ts';

/**
 * Returns a number of an item as an earlier run had it, from the differences between the two; null where that run had
 * no such item.
 */
export function numberBefore(
  now: number,
  key: string | number | boolean,
  name: string,
  { by, added, changed }: DataChanges,
): number | null {
  // Compared otherwise, the items of that run cannot be told apart as these are.
  if (by === null) return null;
  if (added.some((item) => valueAt(item, by.key) === key)) return null;
  const change = changed.find((each) => each.key === key);
  if (change === undefined) return now;
  const before = isRecord(change.before) ? memberOf(change.before, name) : undefined;
  return typeof before === 'number' ? before : null;
}
