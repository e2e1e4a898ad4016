import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { keyFault } from '#core/routines/key-fault.ts';
import { readItems } from '#core/outcomes/index.ts';
import { compileSchema } from '#core/tools/compile-schema.ts';
import type { JsonObject } from '#lib/json.ts';
import { TIMES } from '#test/support/properties.ts';

vi.setConfig({ testTimeout: 60_000 * TIMES });

const BY = { list: '/items', key: '/id' };

/** A schema of data with such items. */
function withItems(items: unknown, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties: { items: { type: 'array', items } }, ...more };
}

const NO_ID = { type: 'object', properties: { name: {} }, additionalProperties: false };

test.each<[string, JsonObject]>([
  ['data that is a list', { type: 'array' }],
  ['no such property', { type: 'object', additionalProperties: false }],
  ['a property that is never there', { properties: { items: false } }],
  ['a property of another type', { properties: { items: { type: ['object', 'null'] } } }],
  ['other properties that are none', { type: 'object', additionalProperties: { type: 'string' } }],
  ['values that have none', { enum: [{ items: 'x' }, {}] }],
  ['a reference to what has none', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
  ['choices that all have none', { anyOf: [{ type: 'string' }, { const: {} }] }],
  ['one of all parts that has none', { allOf: [{}, { properties: { items: false } }] }],
])('a list is nowhere in data by a schema with %s', (_, schema) => {
  expect(keyFault(schema, BY)?.at).toBe('list');
});

test.each<[string, JsonObject]>([
  ['items that never have it', withItems(NO_ID)],
  ['items that are texts', withItems({ type: 'string' })],
  ['a key that is an object', withItems({ properties: { id: { type: ['object', 'null'] } } })],
  ['items by a reference', withItems({ $ref: '#/$defs/item' }, { $defs: { item: NO_ID } })],
  [
    'first items and others that never have it',
    { properties: { items: { type: 'array', prefixItems: [NO_ID], items: false } } },
  ],
  ['lists that are given', { properties: { items: { enum: [[{}], [{ id: [] }], []] } } }],
])('a key is in no item of data by a schema with %s', (_, schema) => {
  expect(keyFault(schema, BY)?.at).toBe('key');
});

test.each<[string, JsonObject, { list: string; key: string }?]>([
  ['nothing', {}],
  ['an open object', { type: 'object' }],
  [
    'a property that a pattern may allow',
    { patternProperties: { '^i': {} }, additionalProperties: false },
  ],
  ['a choice that has it', { oneOf: [{ type: 'string' }, withItems({})] }],
  ['a key that may be null', withItems({ properties: { id: { type: ['string', 'null'] } } })],
  ['a nullable key', withItems({ properties: { id: { type: 'object', nullable: true } } })],
  ['a reference to another document', { $ref: 'https://example.com/schema' }],
  ['a reference to itself', { $ref: '#' }],
  ['one kind of item that has it', withItems({ anyOf: [NO_ID, { type: 'object' }] })],
  [
    'first items that have it',
    { properties: { items: { type: 'array', prefixItems: [{}], items: false } } },
  ],
  ['keys that are the items', { type: 'array', items: { type: 'integer' } }, { list: '', key: '' }],
  [
    'names that a pointer escapes',
    withItems({}, { properties: { 'a/b': { type: 'array' } }, additionalProperties: false }),
    { list: '/a~1b', key: '/id' },
  ],
  [
    'lists in a list',
    { items: { type: 'array', items: { properties: { id: { type: 'number' } } } } },
    { list: '/0', key: '/id' },
  ],
])('a schema with %s may have both', (_, schema, by = BY) => {
  expect(keyFault(schema, by)).toBeUndefined();
});

test('references that multiply are looked at for a while only', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { allOf: [next, next] }];
    }),
  );
  const schema = { $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'object' } } };
  expect(keyFault(schema, BY)).toBeUndefined();
});

const name = fc.constantFrom('a', 'b', '0', 'constructor');
const pointer = fc
  .array(name, { maxLength: 2 })
  .map((names) => names.map((each) => `/${each}`).join(''));
const type = fc.constantFrom('object', 'array', 'string', 'integer', 'null', ['object', 'array']);
const { schema: anySchema } = fc.letrec<{ schema: JsonObject | boolean }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<JsonObject | boolean>(
      true,
      false,
      {},
      { type: 'integer' },
      { const: ['a'] },
      {
        enum: [{ a: [1] }, 'a'],
      },
    ),
    fc.record({ type }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record(
      {
        type,
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
        additionalProperties: tie('schema'),
        patternProperties: fc.constant({ '^b': {} }),
      },
      { requiredKeys: ['properties'] },
    ),
    fc.record(
      {
        type,
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ['items'] },
    ),
  ),
}));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>('a', 1, true, null),
    fc.dictionary(name, tie('value'), { maxKeys: 2 }),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
}));

test('no data by a schema has items by a key that is refused', () => {
  let refused = 0;
  let satisfied = 0;
  fc.assert(
    fc.property(
      anySchema,
      pointer,
      pointer,
      fc.array(value, { minLength: 30, maxLength: 30 }),
      (generated, list, key, values) => {
        const schema = { allOf: [generated] };
        const fault = keyFault(schema, { list, key });
        if (fault === undefined) return;
        refused += 1;
        const check = compileSchema(schema);
        for (const each of values.filter((data) => check(data) === undefined)) {
          satisfied += 1;
          const read = readItems(each, { list, key });
          // A list without items has none without its key.
          if (read.ok) expect([fault.at, read.items.size]).toEqual(['key', 0]);
        }
      },
    ),
    { numRuns: 1_000 * TIMES },
  );
  // Else nothing was shown.
  expect(refused).toBeGreaterThan(100);
  expect(satisfied).toBeGreaterThan(300);
});
