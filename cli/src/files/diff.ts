/** A line that is in both texts, or in one of them. */
export interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** The most cells of the comparison's table. Texts that need more cells are shown as one removal and one addition. */
const MAX_CELLS = 4_000_000;

/** Compares two texts line by line (longest common subsequence). */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]) => lines.map((text) => ({ mark: ' ' as const, text }));
  return [
    ...same(a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

function diffMiddle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  const common = new Uint32Array(a.length * b.length > MAX_CELLS ? 0 : (a.length + 1) * width);
  if (common.length > 0) {
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        const [right = 0, down = 0] = [common[i * width + j + 1], common[(i + 1) * width + j]];
        const diagonal = common[(i + 1) * width + j + 1] ?? 0;
        common[i * width + j] = a[i] === b[j] ? diagonal + 1 : Math.max(right, down);
      }
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right && common.length > 0) {
      lines.push({ mark: ' ', text: left });
      i += 1;
      j += 1;
    } else if (
      left !== undefined &&
      (right === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push({ mark: '-', text: left });
      i += 1;
    } else if (right !== undefined) {
      lines.push({ mark: '+', text: right });
      j += 1;
    }
  }
  return lines;
}

/** Leaves out equal lines, except a few around each change. */
export function withContext(lines: readonly DiffLine[], around = 2): DiffLine[] {
  const shown = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ mark }) => mark !== ' '),
  );
  return lines.flatMap((line, at) => {
    if (shown[at] === true) return [line];
    return at === 0 || shown[at - 1] === true ? [{ mark: ' ' as const, text: '…' }] : [];
  });
}
