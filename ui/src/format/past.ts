import { isRecord, memberOf, valueAt } from './json-pointer.ts';
import { idOf, type DataChanges, type TypedRow } from './typed-data.ts';

/**
 * Returns a number of an item as an earlier run had it, from the differences between the two; null where that run had
 * no such item.
 */
export function numberBefore(
  now: number,
  key: NonNullable<TypedRow['key']>,
  name: string,
  { by, added, changed }: DataChanges,
): number | null {
  // Compared otherwise, the items of that run cannot be told apart as these are.
  if (by === null) return null;
  if (added.some((item) => idOf(valueAt(item, by.key)) === idOf(key))) return null;
  const change = changed.find((each) => idOf(each.key) === idOf(key));
  if (change === undefined) return now;
  const before = isRecord(change.before) ? memberOf(change.before, name) : undefined;
  return typeof before === 'number' ? before : null;
}
