import sql, { type Sql } from 'sql-template-tag';
import { isJsonObject } from '../json.ts';
import { ExactNumber, isTooLong } from '../exact-json/parse.ts';

/** Replaces characters that Postgres text does not accept: a NUL, or half of a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/**
 * Writes a value as JSON that jsonb accepts: every text and key is made storable, and a number with more digits than
 * Postgres keeps becomes a text.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return UNSTORABLE.test(json) || HUGE_NUMBER.test(json) ? cleanedJson(value) : json;
}

/** Finds the JSON escapes of NUL and of surrogates. Most texts have none, so that their parts need not be examined. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/**
 * Finds every number that would have more than a thousand digits, and some shorter numbers. Most texts have none, so
 * that their parts need not be examined.
 */
const HUGE_NUMBER = /(?:^|[:,[])-?(?:[\d.]{900}|[\d.]+[eE][+-]?\d{3})/;

function cleanedJson(value: unknown): string {
  return JSON.stringify(value, function cleaned(this: Readonly<Record<string, unknown>>, key, inner: unknown) {
    if (typeof inner === 'string') return storable(inner);
    const given = this[key];
    if (given instanceof ExactNumber) return isTooLong(given) ? given.source : inner;
    if (!isJsonObject(inner)) return inner;
    const entries = Object.entries(inner);
    if (entries.every(([key]) => storable(key) === key)) return inner;
    return Object.fromEntries(entries.map(([key, item]) => [storable(key), item]));
  });
}

/**
 * The present time, for rows that are due or over at once. Columns of times round to milliseconds, and may round up, so
 * a plain `now()` may be half a millisecond in the future.
 */
export const AT_ONCE = sql`date_trunc('milliseconds', now())`;

/**
 * Compares the owner by `= any`, so that Postgres takes an index that begins with the owner. The `order by` must begin
 * with `column`. With `=`, Postgres drops the owner from the order. If one owner has most of the rows, Postgres then
 * scans the index of all ids, and for an owner with few rows it reads past everyone else's rows.
 */
export function ownedBy(column: Sql, owner: Sql | string): Sql {
  return sql`${column} = any(array[${owner}])`;
}
