/** A key is `<tag>_<8 characters>_<43 characters>`; its beginning may be shown. */
const KEY = /\b([A-Za-z0-9]+_[A-Za-z0-9]{8})_[A-Za-z0-9]{16,}/g;

/** Masks every API key in a text, and the key in use in any form. */
export function masked(text: string, apiKey?: string): string {
  const known = apiKey === undefined ? text : text.replaceAll(apiKey, maskedKey(apiKey));
  return known.replaceAll(KEY, '$1_…');
}

/** Shortens an API key to the part that identifies it. */
export function maskedKey(apiKey: string): string {
  const short = apiKey.replace(KEY, '$1_…');
  return short === apiKey ? '…' : short;
}
