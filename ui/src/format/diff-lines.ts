import { diffArrays } from 'diff';

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Limits the work for two texts with little in common; a longer diff would not help a reader. */
const MAX_EDITS = 1_000;

/**
 * Compares two texts line by line. An empty text has no lines.
 * @returns the lines of both in order; beyond {@link MAX_EDITS} all of the old, then all of the new
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const changes = diffArrays(old, fresh, { maxEditLength: MAX_EDITS }) ?? [
    { value: old, removed: true, added: false },
    { value: fresh, removed: false, added: true },
  ];
  return changes.flatMap(({ value, added, removed }) =>
    value.map((text) => ({ kind: added ? 'added' : removed ? 'removed' : 'same', text })),
  );
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
