import { isDeepStrictEqual } from 'node:util';
import {
  areNone,
  boundChanges,
  findChanges,
  readItems,
  type ComparedResult,
  type Items,
} from '#core/outcomes/index.ts';
import type { ResultKey } from '#core/routines/index.ts';
import type { Baseline } from './last-delivered.ts';

/**
 * Compares the data of a run with the data delivered last. Data that was matched by another key says nothing about
 * these items, so everything is new then.
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

/** Reads the items of recorded data, which its key has fitted before. */
function itemsOf(data: unknown, by: ResultKey | null): Items {
  const read = readItems(data, by);
  if (!read.ok) throw new Error(read.issue);
  return read.items;
}
