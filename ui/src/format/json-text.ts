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

/** Formats JSON with line breaks. Other texts and cut ones stay unchanged. */
export function pretty(text: string): string {
  const value = jsonIn(text);
  return value === undefined ? text : json(value);
}

const FENCED = /^\s*```(?:json)?[ \t]*\n([\s\S]*)\n```\s*$/;

/** Removes the code fence that models like to put around JSON. */
export function unfenced(text: string): string {
  const [, inside] = FENCED.exec(text) ?? [];
  return inside === undefined || inside.includes('```') ? text : inside;
}
