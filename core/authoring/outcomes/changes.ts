import { isDeepStrictEqual } from 'node:util';
import type { ResultKey } from '#core/authoring/definition/index.ts';
import { readItems, type Item, type Items, type KeyValue } from './items.ts';

export interface ChangedItem {
  /** Null where the data was compared as a whole. */
  readonly key: KeyValue | null;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

/** The difference between two results: applied to the items of the earlier one, it gives those of the later one. */
export interface Changes {
  /** Key by which items were matched; null where the data was compared as a whole. */
  readonly by: ResultKey | null;
  readonly counts: ChangeCounts;
  /** Added items, in the order of the later list. */
  readonly added: readonly unknown[];
  /** Removed items, in the order of the earlier list. */
  readonly removed: readonly unknown[];
  readonly changed: readonly ChangedItem[];
  /** True when items are left out; `counts` includes them all the same. */
  readonly truncated: boolean;
}

/** The changes of a run against the one that it was compared with. */
export interface ComparedResult extends Changes {
  /** The run that was delivered last; null for the first, to which everything is new. */
  readonly against: string | null;
  /** Consecutive runs without a change: up to this one, or, where it brings a change, up to the one before it. */
  readonly unchangedRuns: number;
}

/** Data with which a new result is compared. */
export interface DeliveredData {
  /** The run with which it was delivered. */
  readonly against: string;
  readonly data: unknown;
  readonly by: ResultKey | null;
  /** Consecutive runs without a change since. */
  readonly unchangedRuns: number;
}

/**
 * Compares the data of a run with the data delivered last. Data that was matched by another key says nothing about
 * these items, so everything is new then.
 */
export function compareWith(delivered: DeliveredData | undefined, data: unknown, by: ResultKey | null): ComparedResult {
  const known = isDeepStrictEqual(delivered?.by, by) ? delivered : undefined;
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

/** Finds the differences. The order of items does not count, nor does data beside the list. */
export function findChanges(before: Items, after: Items, by: ResultKey | null): Changes {
  const added = missingFrom(before, after);
  const removed = missingFrom(after, before);
  const changed = [...after].flatMap(([id, { key, value, json }]) => {
    const earlier = before.get(id);
    if (earlier === undefined || earlier.json === json) return [];
    return [{ key, before: earlier.value, after: value }];
  });
  const counts = { added: added.length, removed: removed.length, changed: changed.length };
  return { by, counts, added, removed, changed, truncated: false };
}

/** Counts of no difference, as JSON, for statements that compare what is on record. */
export const NO_CHANGES = JSON.stringify({
  added: 0,
  removed: 0,
  changed: 0,
} satisfies ChangeCounts);

/** Returns true when there is no difference. */
export function areNone({ counts: { added, removed, changed } }: Changes): boolean {
  return added + removed + changed === 0;
}

/** Items of each kind that are kept with a run, and their length as JSON, all together. */
const MAX_ITEMS = 100;
const MAX_LENGTH = 64 * 1024;

/** Bounds the changes that are kept with a run: the first items of each kind, as far as there is room for them. */
export function boundChanges(changes: Changes): Changes {
  let room = MAX_LENGTH;
  function first<T>(items: readonly T[]): T[] {
    const kept: T[] = [];
    for (const item of items.slice(0, MAX_ITEMS)) {
      room -= JSON.stringify(item).length;
      if (room < 0) break;
      kept.push(item);
    }
    return kept;
  }
  const { counts } = changes;
  const [added, changed, removed] = [first(changes.added), first(changes.changed), first(changes.removed)];
  const left = added.length + changed.length + removed.length;
  const truncated = left < counts.added + counts.changed + counts.removed;
  return { ...changes, added, removed, changed, truncated };
}

function missingFrom(items: Items, others: Items): unknown[] {
  return [...others].filter(([id]) => !items.has(id)).map(([, { value }]: [string, Item]) => value);
}
