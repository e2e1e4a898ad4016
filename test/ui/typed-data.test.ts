import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExactNumber, parseExact, sortedJson } from '../../ui/src/format/exact-number.ts';
import type { Shape } from '../../ui/src/api/types.ts';
import { csvOf, fileNameOf, seriesCsvOf } from '../../ui/src/format/exports.ts';
import { typedViewOf, type DataChanges } from '../../ui/src/format/typed-data.ts';
import { itemOf, valuesOf } from '../../ui/src/format/series.ts';
import { compareValues, plainText, shownOf } from '../../ui/src/format/typed-values.ts';

const SCHEMA = {
  title: 'Prices',
  properties: {
    items: {
      type: 'array',
      title: 'What they ask',
      items: { $ref: '#/$defs/item' },
    },
    note: { type: 'string' },
  },
  $defs: {
    item: {
      properties: {
        id: { type: 'string', title: 'Product' },
        price: { anyOf: [{ type: 'null' }, { type: 'number', title: 'Price in €' }] },
        seenAt: { type: 'string', format: 'date-time' },
      },
    },
  },
};
const BY = { list: '/items', key: '/id' };

function changes(fields: Partial<DataChanges> = {}): DataChanges {
  return { by: BY, added: [], removed: [], changed: [], ...fields };
}

test('a list becomes a table by its schema, and each row shows its change', () => {
  const data = {
    note: 'Tea is dearer.',
    items: [
      { price: 4, id: 'tea' },
      { id: 'rice', price: 2, extra: true },
      { id: 'salt', price: 1 },
    ],
  };
  const { facts, tables } = typedViewOf(
    data,
    SCHEMA,
    changes({
      added: [{ id: 'rice', price: 2 }],
      removed: [{ id: 'sugar', price: 3 }],
      changed: [{ key: 'tea', before: { id: 'tea', price: 3 }, after: { id: 'tea', price: 4 } }],
    }),
  );
  expect(facts).toMatchObject([{ title: 'Note', value: 'Tea is dearer.' }]);
  expect(tables).toHaveLength(1);
  expect(tables[0]).toMatchObject({
    title: 'What they ask',
    fields: [
      { name: 'id', title: 'Product', isNumber: false },
      { name: 'price', title: 'Price in €', isNumber: true },
      { name: 'extra', title: 'Extra', isNumber: false },
    ],
    rows: [
      { key: 'tea', mark: 'changed', before: { price: 3 } },
      { key: 'rice', mark: 'added' },
      { key: 'salt', mark: 'same' },
      { key: 'sugar', mark: 'removed' },
    ],
  });
});

test('1 and "1" are two keys', () => {
  const { tables } = typedViewOf([1, '1'], undefined, changes({ by: { list: '', key: '' }, added: ['1'] }));
  expect(tables[0]?.rows.map(({ mark }) => mark)).toEqual(['same', 'added']);
});

test('data that does not fit its schema is shown all the same', () => {
  const schema = fc.constantFrom<unknown>(
    SCHEMA,
    undefined,
    null,
    true,
    7,
    [],
    { properties: 3 },
    { $ref: '#' },
    { items: { $ref: '#/items' } },
    { anyOf: 'x' },
    { properties: { items: { $ref: '#/no' } } },
  );
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), schema, (data, given) => {
      for (const each of [null, changes(), changes({ by: { list: '', key: '' } })]) {
        const view = typedViewOf({ items: data }, given, each);
        const shown = view.facts.length + view.tables.length;
        expect(shown).toBeGreaterThan(0);
        expect(csvOf(view)).toMatch(/\r\n$/);
      }
    }),
  );
  const { facts } = typedViewOf({ items: 'none today' }, SCHEMA, changes());
  expect(facts).toMatchObject([{ name: 'items', value: 'none today' }]);
});

test('a table has so many columns, and names the others', () => {
  const item = Object.fromEntries(Array.from({ length: 43 }, (_, n) => [`f${n}`, n]));
  const { tables } = typedViewOf([item], undefined, null);
  expect(tables[0]?.fields).toHaveLength(40);
  expect(tables[0]?.leftOut).toEqual(['f40', 'f41', 'f42']);
});

test('values are shown by what they are', () => {
  expect(shownOf(1234.5, undefined)).toEqual({ as: 'text', text: '1,234.5' });
  expect(shownOf(true, undefined)).toEqual({ as: 'text', text: 'Yes' });
  expect(shownOf('2026-11-23', 'date')).toMatchObject({ text: /23/ });
  expect(shownOf('2026-11-23T06:00:00Z', undefined).as).toBe('time');
  expect(shownOf('https://example.com/a', undefined).as).toBe('link');
  expect(shownOf(['a', 2], undefined)).toEqual({ as: 'text', text: 'a, 2' });
  expect(shownOf([{ a: 1 }], undefined)).toMatchObject({ as: 'nested', text: '1 items' });
  expect(shownOf('\u202Eevil', undefined)).toEqual({ as: 'text', text: 'U+202Eevil' });
  for (const text of ['javascript:alert(1)', 'data:text/html,x', '//evil.example', '2026-13-45T99:00Z']) {
    expect(shownOf(text, 'uri').as).toBe('text');
  }
});

test('missing values come last in either direction', () => {
  const sorted = (direction: 1 | -1) => [3, null, 10, 2].toSorted((a, b) => compareValues(a, b, direction));
  expect(sorted(1)).toEqual([2, 3, 10, null]);
  expect(sorted(-1)).toEqual([10, 3, 2, null]);
});

test('CSV keeps quotes, commas and lines, and no cell is a formula', () => {
  const items = [
    { id: '=1+1', note: 'a "b", c', n: -5 },
    { id: ' @SUM(A1)', note: 'two\nlines', n: null },
    { id: '-2', note: '\tx', n: 0.5 },
    { id: '+49', note: { deep: [1] }, n: 1e21 },
    { id: '\uFF1Dx', note: '', n: true },
  ];
  expect(csvOf(typedViewOf(items, undefined, null))).toBe(
    `\uFEFF${[
      'id,note,n',
      `'=1+1,"a ""b"", c",-5`,
      `' @SUM(A1),"two\nlines",`,
      `'-2,'\tx,0.5`,
      `'+49,"{""deep"":[1]}",1e+21`,
      `'\uFF1Dx,,true`,
      '',
    ].join('\r\n')}`,
  );
});

test('a file is named by its routine and the time', () => {
  const at = new Date(2026, 10, 23, 7, 5);
  expect(fileNameOf('Weekly audit: ../../Zürich', at, 'md')).toBe('weekly-audit-zürich-2026-11-23-0705.md');
  expect(fileNameOf('***', at, 'csv')).toBe('result-2026-11-23-0705.csv');
});

test('a number that JavaScript would round is shown, sorted, exported and compared by its digits', () => {
  const text = '[{"id":1234567890123456790,"b":"c: 9007199254740993"},{"id":1234567890123456789},{"id":-2.5}]';
  const items = parseExact(text);
  expect(JSON.stringify(items)).toBe(text);
  expect(sortedJson(items)).toBe(
    text.replace(
      '"id":1234567890123456790,"b":"c: 9007199254740993"',
      '"b":"c: 9007199254740993","id":1234567890123456790',
    ),
  );
  const by = { list: '', key: '/id' };
  const changed = [{ key: 0, before: { price: 3 }, after: { price: 4 } }];
  const keyed = { by, added: [], removed: [], changed: [Object.assign(changed[0]!, { key: idOf(items, 1) })] };
  const view = typedViewOf(items, undefined, keyed);
  const [table] = view.tables;
  expect(table?.fields[0]).toMatchObject({ name: 'id', isNumber: true });
  expect(table?.rows.map(({ mark }) => mark)).toEqual(['same', 'changed', 'same']);
  expect(new Set(table?.rows.map(({ id }) => id)).size).toBe(3);
  expect(csvOf(view)).toBe(
    '\uFEFFid,b\r\n1234567890123456790,c: 9007199254740993\r\n1234567890123456789,\r\n-2.5,\r\n',
  );
  expect(plainText(idOf(items, 0))).toBe('1234567890123456790');
  const ids = [0, 1, 2].map((at) => idOf(items, at));
  expect(ids.toSorted((a, b) => compareValues(a, b, 1)).map(String)).toEqual([
    '-2.5',
    '1234567890123456789',
    '1234567890123456790',
  ]);
});

test('a series finds an item by its key and its kind, and leaves its digits to the export', () => {
  const series = parseExact(
    '{"field":"price","runs":[{"runId":"run_1","at":"2026-11-23T07:00:00.000Z"},{"runId":"run_2","at":"2026-11-24T07:00:00.000Z"}],' +
      '"items":[{"key":"1","values":[1,2]},{"key":1,"values":[null,12.50000000000000000001]}]}',
  ) as Shape<'Series'>;
  const item = itemOf(series, 1)!;
  expect(valuesOf(item)).toEqual([null, 12.5]);
  expect(itemOf(series, '2')).toBeUndefined();
  expect(seriesCsvOf(series)).toBe(
    '\uFEFFprice,2026-11-23T07:00:00.000Z,2026-11-24T07:00:00.000Z\r\n1,1,2\r\n1,,12.50000000000000000001\r\n',
  );
});

/** Returns the key of a list's item as it was parsed. */
function idOf(items: unknown, at: number): number | ExactNumber {
  const found: unknown = Array.isArray(items) ? items[at].id : undefined;
  if (typeof found !== 'number' && !(found instanceof ExactNumber)) throw new Error('no number');
  return found;
}

test('a list whose name has a slash is shown once, under its name', () => {
  const by = { list: '/a~1b_c', key: '/id' };
  const view = typedViewOf({ 'a/b_c': [{ id: 1 }] }, undefined, { by, added: [], removed: [], changed: [] });
  expect(view.tables.map(({ title }) => title)).toEqual(['A/b c']);
});
