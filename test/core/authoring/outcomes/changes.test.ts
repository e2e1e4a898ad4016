import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areNone, boundChanges, findChanges, type Changes } from '#core/authoring/outcomes/changes.ts';
import { readItems, type Items } from '#core/authoring/outcomes/index.ts';
import type { ResultKey } from '#core/authoring/definition/index.ts';
import { canonicalJson } from '#lib/json.ts';
import { TIMES } from '#test/support/properties.ts';

const BY: ResultKey = { list: '/items', key: '/id' };

function itemsOf(data: unknown, by: ResultKey | null = BY): Items {
  const read = readItems(data, by);
  if (!read.ok) throw new Error(read.issue);
  return read.items;
}

/** Applies changes as a receiver does, who has only the changes and the earlier items. */
function applied(before: readonly unknown[], changes: Changes): unknown[] {
  const after = new Map(before.map((item) => [keyOf(item), item]));
  for (const item of changes.removed) {
    expect(after.get(keyOf(item))).toEqual(item);
    after.delete(keyOf(item));
  }
  for (const item of changes.added) {
    expect(after.has(keyOf(item))).toBe(false);
    after.set(keyOf(item), item);
  }
  for (const change of changes.changed) {
    const key = JSON.stringify(change.key);
    expect(after.get(key)).toEqual(change.before);
    expect(change.after).not.toEqual(change.before);
    after.set(key, change.after);
  }
  return [...after.values()];
}

function keyOf(item: unknown): string {
  return JSON.stringify((item as { id: unknown }).id);
}

function sorted(items: readonly unknown[]): string[] {
  return items.map((item) => canonicalJson(item)).toSorted();
}

/** Lists of few keys and few values, so that two lists have much in common. `1` and `"1"` are two keys. */
const list = fc.uniqueArray(
  fc.record({
    id: fc.oneof(
      fc.constantFrom<string | number | boolean>('a', 'b', '1', 1, 0, true, '__proto__', ''),
      // Pairs that look equal but differ: composed characters, numbers at the limits, half a character.
      fc.constantFrom<string | number>('é', 'e\u0301', 2 ** 53, 2 ** 53 - 1, 5e-324, 1e21, '\ud800'),
      fc.string(),
      fc.string({ unit: 'binary' }),
    ),
    value: fc.oneof(fc.integer({ min: 0, max: 1 }), fc.jsonValue({ maxDepth: 3 })),
  }),
  { selector: keyOf, maxLength: 12 },
);

describe('changes', () => {
  test('applied to the old items give the new ones', () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const [old, now] = [before, after].map((items) => JSON.parse(JSON.stringify(items)));
        const changes = findChanges(itemsOf({ items: old }), itemsOf({ items: now }), BY);
        expect(sorted(applied(old, changes))).toEqual(sorted(now));
        expect(changes.counts).toEqual({
          added: changes.added.length,
          removed: changes.removed.length,
          changed: changes.changed.length,
        });
        expect(areNone(changes)).toBe(sorted(old).join() === sorted(now).join());
      }),
      { numRuns: 1_000 * TIMES },
    );
  });

  test('of the same items in another order, with their members in another order, are none', () => {
    fc.assert(
      fc.property(list, fc.infiniteStream(fc.nat()), (items, numbers) => {
        const now = JSON.parse(JSON.stringify(items)) as { id: unknown; value: unknown }[];
        const shuffled = now
          .map(({ id, value }) => ({ item: { value, id }, at: numbers.next().value as number }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ item }) => item);
        const changes = findChanges(itemsOf({ items: now }), itemsOf({ items: shuffled }), BY);
        expect(areNone(changes)).toBe(true);
      }),
    );
  });

  test('of data without a key are those of the data as a whole', () => {
    const difference = (before: unknown, after: unknown) =>
      findChanges(itemsOf(before, null), itemsOf(after, null), null);
    expect(difference({ a: 1, b: [2] }, { b: [2], a: 1 }).counts).toEqual(counts(0, 0, 0));
    expect(difference([1, 2], [2, 1])).toEqual({
      by: null,
      counts: counts(0, 0, 1),
      added: [],
      removed: [],
      changed: [{ key: null, before: [1, 2], after: [2, 1] }],
      truncated: false,
    });
  });

  test('do not count what stands beside the list', () => {
    const [before, after] = ['one', 'two'].map((note) => itemsOf({ note, items: [{ id: 1 }] }));
    expect(areNone(findChanges(before!, after!, BY))).toBe(true);
  });

  test('that are many keep their counts and the first items', () => {
    const many = itemsOf({ items: Array.from({ length: 150 }, (_, id) => ({ id })) });
    const bounded = boundChanges(findChanges(new Map(), many, BY));
    expect(bounded).toMatchObject({ counts: counts(150, 0, 0), truncated: true });
    expect(bounded.added).toHaveLength(100);
    expect(bounded.added[99]).toEqual({ id: 99 });
  });

  test('that are large keep what 64 kB hold', () => {
    const big = (id: number) => ({ id, text: 'x'.repeat(10_000) });
    const before = itemsOf({ items: [big(1), big(2)] });
    const after = itemsOf({ items: [3, 4, 5, 6, 7, 8, 9].map(big) });
    const bounded = boundChanges(findChanges(before, after, BY));
    expect(bounded).toMatchObject({ counts: counts(7, 2, 0), truncated: true, removed: [] });
    expect(bounded.added).toHaveLength(6);
    expect(JSON.stringify(bounded).length).toBeLessThan(66_000);
  });

  test('that are whole say so', () => {
    const changes = findChanges(itemsOf({ items: [{ id: 1 }] }), itemsOf({ items: [] }), BY);
    expect(boundChanges(changes)).toEqual(changes);
  });
});

describe('items', () => {
  test.for<[string, unknown, string]>([
    ['no list', { other: [] }, 'resultKey: there is no list at /items'],
    ['something else than a list', { items: {} }, 'resultKey: there is no list at /items'],
    [
      'an item without its key',
      { items: [{ id: 1 }, { name: 'x' }] },
      'resultKey: item 1 of the list at /items has no text, number or boolean at /id',
    ],
    [
      'a key that is an object',
      { items: [{ id: {} }] },
      'resultKey: item 0 of the list at /items has no text, number or boolean at /id',
    ],
    [
      'a key that occurs twice',
      { items: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] },
      'resultKey: item 2 of the list at /items has the key of an earlier item',
    ],
    ['a list that only an object inherits', 'text', 'resultKey: there is no list at /items'],
  ])('are not read from data with %s', ([, data, issue]) => {
    expect(readItems(data, BY)).toEqual({ ok: false, issue });
  });

  test('are told apart by what every object inherits as by any other text', () => {
    const inherited = { list: '/constructor', key: '/length' };
    expect(readItems({ items: [] }, inherited).ok).toBe(false);
    const items = itemsOf(JSON.parse('{"__proto__":[{"id":"__proto__"},{"id":"constructor"}]}'), {
      list: '/__proto__',
      key: '/id',
    });
    expect([...items.keys()]).toEqual(['"__proto__"', '"constructor"']);
  });

  test('may be the keys themselves, in a list that is the data', () => {
    expect([...itemsOf(['a', 1, true], { list: '', key: '' }).values()]).toEqual([
      { key: 'a', value: 'a', json: '"a"' },
      { key: 1, value: 1, json: '1' },
      { key: true, value: true, json: 'true' },
    ]);
  });
});

function counts(added: number, removed: number, changed: number) {
  return { added, removed, changed };
}
