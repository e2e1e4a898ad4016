/** Matches invisible characters, and characters that reverse text; the service refuses the same ones in tools. */
const UNSEEN = /(?!\t|\n|\r|\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
const UNSEEN_APART = new RegExp(`(${UNSEEN.source})`, 'u');

/** Replaces the invisible characters of a foreign text by their names, like `U+202E`. */
export function drawn(text: string): string {
  return text.replace(UNSEEN, nameOf);
}

/** Splits a text at its invisible characters. Every second part is the name of such a character, to be marked. */
export function partsAtUnseen(text: string): readonly string[] {
  return text.split(UNSEEN_APART).map((part, index) => (index % 2 === 0 ? part : nameOf(part)));
}

/** Names the invisible characters of a text, each once. */
export function unseenIn(text: string): readonly string[] {
  return [...new Set(text.match(UNSEEN)?.map(nameOf))];
}

export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '');
}

function nameOf(character: string): string {
  const hexadecimal = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hexadecimal.padStart(4, '0')}`;
}
