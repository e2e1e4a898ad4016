import { createHash } from 'node:crypto';
import { CalculationError, significant } from './decimal.ts';

interface TextOverlap {
  /** Numbers of distinct runs of words: in each text, and shared by both. */
  readonly shingles: { readonly a: number; readonly b: number; readonly shared: number };
  /** Shared runs as a share of all distinct runs. */
  readonly jaccard: number;
  /** Shared runs as a share of the runs of A, and of B. */
  readonly containmentA: number;
  readonly containmentB: number;
}

/**
 * Compares two texts by the runs of words that they share. Case and punctuation do not count (Broder, "On the
 * resemblance and containment of documents", 1997).
 */
export function overlapOfTexts(textA: string, textB: string, size: number): TextOverlap {
  const a = shinglesOf(textA, size, 'textA');
  const b = shinglesOf(textB, size, 'textB');
  const shared = [...a].filter((each) => b.has(each)).length;
  return {
    shingles: { a: a.size, b: b.size, shared },
    jaccard: significant(shared / (a.size + b.size - shared)),
    containmentA: significant(shared / a.size),
    containmentB: significant(shared / b.size),
  };
}

function shinglesOf(text: string, size: number, name: string): Set<string> {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  if (words.length < size) {
    throw new CalculationError(`${name} has ${words.length} words, fewer than the ${size} of a word run`);
  }
  return new Set(words.slice(size - 1).map((_, index) => words.slice(index, index + size).join(' ')));
}

/**
 * Digits of a hash: enough that two of a million texts do not collide by chance, and few enough that a text can contain
 * many hashes.
 */
const HASH_DIGITS = 16;

/** Returns the first digits of each text's SHA-256. White space at the ends and Unicode composition do not count. */
export function hashesOf(texts: readonly string[]): string[] {
  return texts.map((text) =>
    createHash('sha256').update(text.trim().normalize('NFC')).digest('hex').slice(0, HASH_DIGITS),
  );
}

interface ListDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: number;
  /** Number of repeated lines in each list. */
  readonly duplicates: { readonly earlier: number; readonly later: number };
}

/**
 * Compares two lists as sets of lines, and keeps the order of each list. White space at the ends and Unicode form do
 * not count.
 */
export function diffLists(earlier: readonly string[], later: readonly string[], ignoreCase: boolean): ListDiff {
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
