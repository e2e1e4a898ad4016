export interface ListDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: number;
  /** Lines that occur twice in the earlier and in the later list. */
  readonly duplicates: { readonly earlier: number; readonly later: number };
}

/** Compares two lists as sets of lines, white space at the ends and Unicode composition aside, in the lists' order. */
export function listDiff(
  earlier: readonly string[],
  later: readonly string[],
  ignoreCase: boolean,
): ListDiff {
  const before = keyed(earlier, ignoreCase);
  const after = keyed(later, ignoreCase);
  return {
    added: [...after].filter(([key]) => !before.has(key)).map(([, line]) => line),
    removed: [...before].filter(([key]) => !after.has(key)).map(([, line]) => line),
    kept: [...after.keys()].filter((key) => before.has(key)).length,
    duplicates: { earlier: earlier.length - before.size, later: later.length - after.size },
  };
}

function keyed(lines: readonly string[], ignoreCase: boolean): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lines) {
    const trimmed = line.trim().normalize('NFC');
    const key = ignoreCase ? trimmed.toLowerCase() : trimmed;
    if (!found.has(key)) found.set(key, trimmed);
  }
  return found;
}
