import { parseExact } from '#ui/format/exact-number.ts';

/** Writes JSON with line breaks. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Parses a text that is a JSON object or list; undefined for any other text, and for a cut one. */
export function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
