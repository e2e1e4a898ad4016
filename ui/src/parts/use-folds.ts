import { useState } from 'react';

/** Number of lines shown around each change. */
const CONTEXT = 2;
/** Number of pairs drawn at a time. */
const STEP = 300;

/** A pair that is shown, or a folded row of pairs that are the same in both texts. */
export type Fold<P> =
  | { readonly kind: 'pair'; readonly index: number; readonly pair: P }
  | { readonly kind: 'fold'; readonly index: number; readonly length: number };

export interface Folds<P> {
  readonly shown: readonly Fold<P>[];
  /** Opens the fold that begins at an index. */
  readonly open: (index: number) => void;
  /** Shows more of a long comparison; undefined once all is shown. */
  readonly more: (() => void) | undefined;
}

/** Folds the pairs that are far from every change, unless a reader has opened them. */
export function useFolds<P extends { readonly same: boolean }>(pairs: readonly P[]): Folds<P> {
  const [limit, setLimit] = useState(STEP);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const folds = foldsOf(pairs, opened);
  return {
    shown: folds.slice(0, limit),
    open: (index) => setOpened(new Set([...opened, index])),
    more: folds.length > limit ? () => setLimit(limit + STEP) : undefined,
  };
}

function foldsOf<P extends { readonly same: boolean }>(
  pairs: readonly P[],
  opened: ReadonlySet<number>,
): readonly Fold<P>[] {
  const near = new Set<number>();
  for (const [index, { same }] of pairs.entries()) {
    if (same) continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) near.add(at);
  }
  const folds: Fold<P>[] = [];
  let start = -1;
  for (const [index, pair] of pairs.entries()) {
    const last = folds.at(-1);
    if (near.has(index)) start = -1;
    else if (start === -1) start = index;
    if (start === -1 || opened.has(start)) folds.push({ kind: 'pair', index, pair });
    else if (last?.kind === 'fold' && last.index === start) {
      folds[folds.length - 1] = { ...last, length: last.length + 1 };
    } else folds.push({ kind: 'fold', index: start, length: 1 });
  }
  return folds;
}
