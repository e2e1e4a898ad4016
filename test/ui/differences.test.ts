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
    by: { key: 'id' },
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
