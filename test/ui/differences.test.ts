import { expect, test } from 'vitest';
import type { Shape } from '../../ui/src/api/types.ts';
import { differencesOf } from '../../ui/src/pages/home/difference-words.ts';

test('an item of data is named by the words of its key, and says neither these nor addresses again', () => {
  const plan = {
    id: 'bookbright/assistant',
    plan: 'Assistant',
    page: 'https://bookbright.example/plans',
    price: 12,
    currency: 'USD',
    competitor: 'Bookbright',
  };
  const changes = {
    by: { list: '/plans', key: '/id' },
    added: [plan],
    removed: [{ ...plan, id: 'SKU 12', competitor: 'Tidal Desk' }],
    changed: [],
  };
  const result = { kind: 'changed', changes, lines: null };
  expect(differencesOf(result as unknown as Shape<'Result'>, '').map(({ cells }) => cells.join())).toEqual([
    'Bookbright Assistant, 12 USD',
    'SKU 12, Assistant, 12 USD, Tidal Desk',
  ]);
});

test('an item is named by a key at any pointer, and a line has its first fields only', () => {
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, nth) => [`field${nth}`, nth]));
  const changes = {
    by: { list: '/a~1b', key: '/meta/sku~1no' },
    added: [{ meta: { 'sku/no': 'SKU 7' }, price: 3 }],
    removed: [{ meta: { 'sku/no': 'SKU 8' }, ...wide }],
    changed: [{ key: 'SKU 9', before: wide, after: { meta: { 'sku/no': 'SKU 9' } } }],
  };
  const result = { kind: 'changed', changes, lines: null };
  const [added, removed, changed] = differencesOf(result as unknown as Shape<'Result'>, '').map(
    ({ cells }) => cells[0],
  );
  expect(added).toBe('SKU 7, price 3');
  expect(removed).toMatch(/^SKU 8, field0 0, .*field11 11$/);
  expect(changed).toMatch(/^SKU 9: field0 0 → none, .*field11 11 → none$/);
});
