import { isJsonObject } from '../json.ts';

/** Replaces what text from outside may hold and Postgres text cannot: a NUL, or half of a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** Writes a value as JSON that jsonb accepts, with every text and key in it made storable. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return UNSTORABLE.test(json) ? cleanedJson(value) : json;
}

/** Finds the escapes that both become in JSON, so that most values need no walk through their parts. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

function cleanedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'string') return storable(inner);
    if (!isJsonObject(inner)) return inner;
    const entries = Object.entries(inner);
    if (entries.every(([key]) => storable(key) === key)) return inner;
    return Object.fromEntries(entries.map(([key, item]) => [storable(key), item]));
  });
}
