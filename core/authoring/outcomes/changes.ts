import { isDeepStrictEqual } from 'node:util';
import type { ResultKey } from '#core/authoring/definition/index.ts';
import { readItems, type Item, type Items, type KeyValue } from './items.ts';

export interface ChangedItem {
  /** Key of the changed item; null if the data was compared as a whole. */
  readonly key: KeyValue | null;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

/**
 * The difference between two results. A difference that is not truncated turns the earlier items into the later items.
 */
export interface Changes {
  /** The key by which items were matched; null if the data was compared as a whole. */
  readonly by: ResultKey | null;
  readonly counts: ChangeCounts;
  /** Added items, in the order of the later list. */
  readonly added: readonly unknown[];
  /** Removed items, in the order of the earlier list. */
  readonly removed: readonly unknown[];
  readonly changed: readonly ChangedItem[];
  /** True when items are left out. `counts` includes them. */
  readonly truncated: boolean;
}

/** The changes of a run's result since an earlier run. */
export interface ComparedResult extends Changes {
  /**
   * Id of the last delivered run, with which this run is compared; null for the first run, in which everything is new.
   */
  readonly against: string | null;
  /** Number of consecutive runs without a change up to this run, or up to the run before if this run has a change. */
  readonly unchangedRuns: number;
}

/** The data that a new result is compared with. */
export interface DeliveredData {
  /** Id of the run whose webhook carried this data. */
  readonly against: string;
  readonly data: unknown;
  readonly by: ResultKey | null;
  /** Number of runs without a change since that run. */
  readonly unchangedRuns: number;
}

/** Compares data with the data delivered last. If that data was matched by another key, everything is new. */
export function compareWith(delivered: DeliveredData | undefined, data: unknown, by: ResultKey | null): ComparedResult {
  const known = isDeepStrictEqual(delivered?.by, by) ? delivered : undefined;
  const before: Items = known === undefined ? new Map() : itemsOf(known.data, by);
  const changes = findChanges(before, itemsOf(data, by), by);
  const against = known?.against ?? null;
  const streak = known?.unchangedRuns ?? 0;
  const unchangedRuns = against !== null && areNone(changes) ? streak + 1 : streak;
  return { ...boundChanges(changes), against, unchangedRuns };
}

function itemsOf(data: unknown, by: ResultKey | null): Items {
  const read = readItems(data, by);
  if (!read.ok) throw new Error(read.issue);
  return read.items;
}

/** Finds the differences. Neither the order of the items nor data outside the list matters. */
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

/** The counts of changes between two equal results as JSON, for statements that compare recorded changes. */
export const NO_CHANGES = JSON.stringify({ added: 0, removed: 0, changed: 0 } satisfies ChangeCounts);

export function areNone({ counts: { added, removed, changed } }: Pick<Changes, 'counts'>): boolean {
  return added + removed + changed === 0;
}

/** The most items of each kind that are kept with a run; their JSON is limited too. */
const MAX_ITEMS = 100;
const MAX_LENGTH = 64 * 1024;

/** Cuts the changes that are kept with a run to the first items of each kind that fit. */
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
