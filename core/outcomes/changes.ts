import type { ResultKey } from '#core/routines/index.ts';
import type { Item, Items, KeyValue } from './items.ts';

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
  const [added, changed, removed] = [
    first(changes.added),
    first(changes.changed),
    first(changes.removed),
  ];
  const left = added.length + changed.length + removed.length;
  const truncated = left < counts.added + counts.changed + counts.removed;
  return { ...changes, added, removed, changed, truncated };
}

function missingFrom(items: Items, others: Items): unknown[] {
  return [...others].filter(([id]) => !items.has(id)).map(([, { value }]: [string, Item]) => value);
}

/** The changes of a run against the one that it was compared with. */
export interface ComparedResult extends Changes {
  /** The run that was delivered last; null for the first, to which everything is new. */
  readonly against: string | null;
  /** Consecutive runs without a change: up to this one, or, where it brings a change, up to the one before it. */
  readonly unchangedRuns: number;
}

/** Lists the reasons for which a webhook is not told of the end of a run; users choose which apply. */
export const WITHHELD = {
  no_change: 'the routine delivers changes, and the run brought none',
  not_failed: 'the routine delivers failures only',
  no_webhook: 'the routine had no webhook that takes deliveries',
} as const;
export type Withheld = keyof typeof WITHHELD;
