export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/**
 * Limit of lines for a comparison line by line, whose table grows with their product; longer texts are compared as one
 * block.
 */
const MAX_LINES = 1_500;

/** Compares two texts line by line, by their longest common subsequence. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  if (a.length > MAX_LINES || b.length > MAX_LINES) {
    return [...a.map((text) => line('removed', text)), ...b.map((text) => line('added', text))];
  }
  const lengths = commonLengths(a, b);
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      found.push(line('same', left));
      i += 1;
      j += 1;
    } else if (
      right === undefined ||
      (left !== undefined && (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))
    ) {
      found.push(line('removed', left ?? ''));
      i += 1;
    } else {
      found.push(line('added', right));
      j += 1;
    }
  }
  return found;
}

/** The length of the longest common subsequence of what begins at each pair of lines. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const [row, below] = [lengths[i], lengths[i + 1]];
    if (row === undefined || below === undefined) continue;
    for (let j = b.length - 1; j >= 0; j -= 1) {
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

function line(kind: DiffLine['kind'], text: string): DiffLine {
  return { kind, text };
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
