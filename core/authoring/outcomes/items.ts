import type { ResultKey } from '#core/authoring/definition/index.ts';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import { canonicalJson, valueAt } from '#lib/json.ts';

export type KeyValue = string | number | boolean | ExactNumber;

export interface Item {
  /** Key of the item; null for data that is compared as a whole. */
  readonly key: KeyValue | null;
  readonly value: unknown;
  /** JSON of the item; equal values have the same text. */
  readonly json: string;
}

/** Items of one result, by their keys as JSON: `1` and `"1"` are different. */
export type Items = ReadonlyMap<string, Item>;

/** The items, or the fault that keeps the data from being read as items, with the place of the fault. */
export type ReadItems = { readonly ok: true; readonly items: Items } | { readonly ok: false; readonly issue: string };

/** Reads the items of a result. Without a key, the data as a whole is the only item. */
export function readItems(data: unknown, by: ResultKey | null): ReadItems {
  const items = new Map<string, Item>();
  if (by === null) {
    items.set('', { key: null, value: data, json: canonicalJson(data) });
    return { ok: true, items };
  }
  const list = valueAt(data, by.list);
  if (!Array.isArray(list)) return fault(`resultKey: there is no list at ${shown(by.list)}`);
  for (const [index, value] of list.entries()) {
    const place = `item ${index} of the list at ${shown(by.list)}`;
    const key = valueAt(value, by.key);
    if (!isKeyValue(key)) return fault(`resultKey: ${place} has no text, number or boolean at ${shown(by.key)}`);
    const id = canonicalJson(key);
    if (items.has(id)) return fault(`resultKey: ${place} has the key of an earlier item`);
    items.set(id, { key, value, json: canonicalJson(value) });
  }
  return { ok: true, items };
}

function fault(issue: string): ReadItems {
  return { ok: false, issue };
}

function shown(pointer: string): string {
  return pointer === '' ? 'its root' : pointer;
}

function isKeyValue(value: unknown): value is KeyValue {
  return value instanceof ExactNumber || ['string', 'number', 'boolean'].includes(typeof value);
}
