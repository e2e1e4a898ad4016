import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contradictionOf } from '#core/routines/contradiction.ts';
import { compileSchema } from '#core/tools/compile-schema.ts';
import type { JsonObject } from '#lib/json.ts';
import { TIMES } from '#test/support/properties.ts';

test.for<[string, JsonObject, string]>([
  ['a negation of everything', { not: {} }, '/not'],
  ['bounds that cross', { type: 'integer', minimum: 5, maximum: 4 }, '/minimum'],
  ['lengths that cross', { type: 'string', minLength: 2, maxLength: 1 }, '/minLength'],
  ['choices of another type', { type: 'string', enum: [1, null] }, '/enum'],
  ['no choices', { enum: [] }, '/enum'],
  ['a constant of another type', { type: 'integer', const: 1.5 }, '/const'],
  [
    'a required property that nothing may be',
    { type: 'object', properties: { 'a/b': { not: true } }, required: ['a/b'] },
    '/properties/a~1b/not',
  ],
  [
    'a required property that is not allowed',
    { type: 'object', properties: {}, required: ['a'], additionalProperties: false },
    '/additionalProperties',
  ],
  ['items that nothing may be', { type: 'array', minItems: 1, items: false }, '/items'],
  ['a part that nothing satisfies', { allOf: [{}, { type: 'null', const: 0 }] }, '/allOf/1/const'],
  [
    'choices of which none can be satisfied',
    { anyOf: [false, { type: 'string', enum: [] }] },
    '/anyOf',
  ],
  [
    'a value that has to hold itself',
    { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] },
    '/properties/next',
  ],
  [
    'one that has to hold itself by way of another',
    {
      $ref: '#/$defs/a',
      $defs: {
        a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } }, required: ['b'] },
        b: { type: 'array', items: { $ref: '#/$defs/a' }, minItems: 1 },
      },
    },
    '',
  ],
])('a schema with %s is found out', ([, schema, at]) => {
  expect(contradictionOf(schema)).toBe(at);
});

test.for<[string, JsonObject]>([
  ['nothing', {}],
  ['a list that may be empty', { type: 'array', items: false }],
  ['a property that need not be there', { type: 'object', properties: { a: false } }],
  ['crossed bounds of another type', { type: 'string', minimum: 5, maximum: 4 }],
  ['a type that may be another', { type: ['string', 'null'], enum: [null] }],
  ['a nullable type', { type: 'string', nullable: true, enum: [null] }],
  [
    'a value that may hold itself',
    {
      type: 'object',
      properties: { next: { anyOf: [{ type: 'null' }, { $ref: '#' }] } },
      required: ['next'],
    },
  ],
  [
    'a property that a pattern allows',
    {
      type: 'object',
      patternProperties: { '^a': {} },
      required: ['ab'],
      additionalProperties: false,
    },
  ],
])('a schema with %s is not', ([, schema]) => {
  expect(contradictionOf(schema)).toBeUndefined();
});

test('references that multiply are looked at for a while only', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { allOf: [next, next] }];
    }),
  );
  expect(
    contradictionOf({ $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'string' } } }),
  ).toBeUndefined();
});

const leaf = fc.constantFrom<JsonObject | boolean>(
  true,
  false,
  {},
  { type: 'string' },
  { type: 'integer', minimum: 0, maximum: 1 },
  { type: 'number', minimum: 2, maximum: 1 },
  { enum: ['a', 1] },
  { type: 'null', enum: ['a', 1] },
  { const: 1 },
  { type: 'string', const: 1 },
  { not: {} },
);
const { schema: anySchema } = fc.letrec<{ schema: JsonObject | boolean }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constantFrom('object', ['object', 'string']),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), tie('schema')),
      required: fc.subarray(['a', 'b', 'constructor']),
      additionalProperties: fc.boolean(),
    }),
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2) }),
  ),
}));

const value = fc.oneof(
  fc.constantFrom<unknown>('a', 1, 0, null, {}, [], { a: 1 }, { a: 'a', b: 1 }, ['a'], [1, 1]),
  fc.constantFrom<unknown>({ constructor: 1 }, { constructor: 'a', b: 'a' }, [{}], '', -0, 1.5),
  fc.jsonValue({ maxDepth: 2 }),
);

test('no value satisfies a schema that is called a contradiction', () => {
  fc.assert(
    fc.property(
      anySchema,
      fc.array(value, { minLength: 10, maxLength: 20 }),
      (generated, values) => {
        const schema = { allOf: [generated] };
        if (contradictionOf(schema) === undefined) return;
        const check = compileSchema(schema);
        for (const each of values) expect(check(each)).not.toBeUndefined();
      },
    ),
    { numRuns: 300 * TIMES },
  );
});
