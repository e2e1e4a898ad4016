/** Text from outside may hold what Postgres text cannot: a NUL, or half of a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** A value as JSON that jsonb accepts: the same of every text and key in it, where an escape would hide them. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return UNSTORABLE.test(json) ? cleanedJson(value) : json;
}

/** Both are escapes in JSON, so that most values need to be looked at only once they are text. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

function cleanedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'string') return storable(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const entries = Object.entries(inner);
    if (entries.every(([key]) => storable(key) === key)) return inner;
    return Object.fromEntries(entries.map(([key, item]) => [storable(key), item]));
  });
}
