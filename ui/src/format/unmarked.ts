/** Separates the cells of a table's row in a plain line. */
export const CELL_GAP = ' · ';

/** Removes the marks of Markdown, and lines without a letter or digit. */
export function unmarked(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+)+/, '')
        .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/\*\*|__|`|(?<![\p{L}\p{N}])\*(?=\S)|(?<=\S)\*(?![\p{L}\p{N}])/gu, '')
        // Put separators between the cells of a table's row.
        .replaceAll(/^\s*\||\|\s*$/g, '')
        .replaceAll(/\s*\|\s*/g, CELL_GAP)
        .trim(),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .join('\n');
}
