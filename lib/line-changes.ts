import { cut } from '#lib/text.ts';

/** Differences of two texts by line. */
export interface LineChanges {
  readonly counts: { readonly added: number; readonly removed: number };
  /** The first added lines, in the order of the later text. */
  readonly added: readonly string[];
  /** The first removed lines, in the order of the earlier text. */
  readonly removed: readonly string[];
}

const LINES_OF_A_KIND = 5;
const LINE_LENGTH = 300;

/**
 * Finds lines that only one of two texts has, at any place: a moved line is no change. Empty lines and the space around
 * a line do not count. The time is proportional to the length of the texts.
 */
export function findLineChanges(before: string, after: string): LineChanges {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const [added, removed] = [missingFrom(old, fresh), missingFrom(fresh, old)];
  return {
    counts: { added: added.length, removed: removed.length },
    added: added.slice(0, LINES_OF_A_KIND).map(short),
    removed: removed.slice(0, LINES_OF_A_KIND).map(short),
  };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Returns the lines that `others` lack. Repeated lines count separately. */
function missingFrom(others: readonly string[], lines: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

function short(line: string): string {
  return line.length > LINE_LENGTH ? `${cut(line, LINE_LENGTH)}…` : line;
}
