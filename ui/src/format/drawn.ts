/** Matches invisible characters, and characters that reverse text; the service refuses the same ones in tools. */
const UNSEEN = /(?!\t|\n|\r|\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces the invisible characters of a foreign text by their names, like `U+202E`. */
export function drawn(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const hexadecimal = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `U+${hexadecimal.padStart(4, '0')}`;
  });
}
