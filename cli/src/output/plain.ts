import { stripVTControlCharacters } from 'node:util';

/**
 * Characters that could manipulate a terminal: control characters (C0 without tab and line feed, DEL, C1), and marks of
 * writing direction, which can make one text look like another.
 */
const HARMFUL = /(?![\t\n])[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Removes control characters from a text. Lines and tabs stay. */
export function plain(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replaceAll(HARMFUL, '');
}

/** Does the same as `plain`, and returns one line. */
export function plainLine(text: string): string {
  return plain(text).replaceAll(/\s*\n\s*|\t/g, ' ');
}

/** Writes JSON with escaped control characters; the value is the same. */
export function plainJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  return text.replaceAll(HARMFUL, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
