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

/** Words of a pair of lines that may differ; with more of them the lines count as unrelated. */
const MAX_EDITS = 200;
/** Edits of all pairs together, which limits the work for two texts with little in common. */
const ALL_EDITS = 4_000;

/** Compares two texts by word. Changed lines are paired. */
export function wordDiff(before: string, after: string): readonly LinePair[] {
  const pairs: LinePair[] = [];
  const old: string[] = [];
  const fresh: string[] = [];
  let left = ALL_EDITS;
  const flush = () => {
    for (let index = 0; index < Math.max(old.length, fresh.length); index += 1) {
      const [pair, edits] = pairOf(old[index], fresh[index], Math.min(MAX_EDITS, left));
      left -= edits;
      pairs.push(pair);
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

function pairOf(
  before: string | undefined,
  after: string | undefined,
  maxEdits: number,
): readonly [LinePair, edits: number] {
  if (before === undefined || after === undefined || maxEdits <= 0) {
    return [{ before: whole(before), after: whole(after), same: false }, 0];
  }
  const changes = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: maxEdits });
  if (changes === undefined) {
    return [{ before: whole(before), after: whole(after), same: false }, maxEdits];
  }
  const side = (isOther: (change: ChangeObject<string[]>) => boolean) =>
    changes.flatMap((change) =>
      isOther(change) ? [] : [{ text: change.value.join(''), differs: change.added || change.removed }],
    );
  const edits = changes.reduce((sum, { added, removed, value }) => sum + (added || removed ? value.length : 0), 0);
  const pair = {
    before: side(({ added }) => added),
    after: side(({ removed }) => removed),
    same: false,
  };
  return [pair, edits];
}

function whole(text: string | undefined): readonly Stretch[] | null {
  return text === undefined ? null : [{ text, differs: true }];
}

/** Splits a line into words, spaces and signs, without losing a character. */
function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu) ?? [];
}
