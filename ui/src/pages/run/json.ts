import { parseExact } from '#ui/format/exact-number.ts';

/** Writes JSON with line breaks. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Reads a text that is an object or a list in JSON; undefined for any other, and for one that was cut. */
export function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
