import { isDeepStrictEqual } from 'node:util';
import {
  areNone,
  boundChanges,
  findChanges,
  readItems,
  type ComparedResult,
  type Items,
  type ResultKey,
} from '#core/results/index.ts';
import type { Baseline } from './last-delivered.ts';

/**
 * Compares the data of a run with what was delivered last. Data that was told apart by another key says nothing about
 * the items of this one, so that everything is new then.
 */
export function compareWith(
  baseline: Baseline | undefined,
  data: unknown,
  by: ResultKey | null,
): ComparedResult {
  const known = isDeepStrictEqual(baseline?.by, by) ? baseline : undefined;
  const before: Items = known === undefined ? new Map() : itemsOf(known.data, by);
  const changes = findChanges(before, itemsOf(data, by), by);
  const against = known?.against ?? null;
  const streak = known?.unchangedRuns ?? 0;
  const unchangedRuns = against !== null && areNone(changes) ? streak + 1 : streak;
  return { ...boundChanges(changes), against, unchangedRuns };
}

/** Data on record has been read by its key before. */
function itemsOf(data: unknown, by: ResultKey | null): Items {
  const read = readItems(data, by);
  if (!read.ok) throw new Error(read.issue);
  return read.items;
}
