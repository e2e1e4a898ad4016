import { diffArrays, type ChangeObject } from 'diff';
import { diffLines } from './diff-lines.ts';

/** A stretch of a line, and whether the other text has it too. */
export interface Stretch {
  readonly text: string;
  readonly differs: boolean;
}

/** Two lines beside each other; null if one text has none. */
export interface LinePair {
  readonly before: readonly Stretch[] | null;
  readonly after: readonly Stretch[] | null;
  readonly same: boolean;
}

/** The most words in which two lines may differ. Lines with more differences count as unrelated. */
const MAX_EDITS = 200;
/** The most edits of all pairs together, which limits the work for two texts with little in common. */
const ALL_EDITS = 4_000;

/** Compares two texts by word. Changed lines are paired. */
export function wordDiff(before: string, after: string): readonly LinePair[] {
  const compare = createWordDiff();
  const pairs: LinePair[] = [];
  const old: string[] = [];
  const fresh: string[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(old.length, fresh.length); index += 1) {
      pairs.push(compare(old[index], fresh[index]));
    }
    old.length = 0;
    fresh.length = 0;
  };
  for (const { kind, text } of diffLines(before, after)) {
    if (kind === 'removed') old.push(text);
    else if (kind === 'added') fresh.push(text);
    else {
      flush();
      const line = [{ text, differs: false }];
      pairs.push({ before: line, after: line, same: true });
    }
  }
  flush();
  return pairs;
}

/** Returns a function that compares two lines. All of its calls share one limit on edits. */
export function createWordDiff(): (before: string | undefined, after: string | undefined) => LinePair {
  let left = ALL_EDITS;
  return (before, after) => {
    const apart = { before: whole(before), after: whole(after), same: false };
    if (before === undefined || after === undefined || left <= 0) return apart;
    const maxEditLength = Math.min(MAX_EDITS, left);
    const changes = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength });
    left -= changes === undefined ? maxEditLength : editsOf(changes);
    return changes === undefined
      ? apart
      : { before: sideOf(changes, 'added'), after: sideOf(changes, 'removed'), same: false };
  };
}

type Changes = readonly ChangeObject<string[]>[];

function editsOf(changes: Changes): number {
  return changes.reduce((sum, { added, removed, value }) => sum + (added || removed ? value.length : 0), 0);
}

/** Returns one side of a comparison: the old line without added parts, or the new line without removed ones. */
function sideOf(changes: Changes, without: 'added' | 'removed'): readonly Stretch[] {
  return changes
    .filter((change) => !change[without])
    .map(({ value, added, removed }) => ({ text: value.join(''), differs: added || removed }));
}

function whole(text: string | undefined): readonly Stretch[] | null {
  return text === undefined ? null : [{ text, differs: true }];
}

/** Splits a line into words, spaces and signs, without losing a character. */
function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu) ?? [];
}
