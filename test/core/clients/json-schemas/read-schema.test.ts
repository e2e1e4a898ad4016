import { expect, test } from 'vitest';
import { compileSchema } from '#core/clients/json-schemas/compile.ts';
import { readLeniently } from '#core/clients/json-schemas/leave-out.ts';
import type { JsonObject } from '#lib/json.ts';

/** Reads a schema; returns the places that were left out, and a check of values against the rest. */
function read(schema: JsonObject) {
  const { schema: rest, leftOut } = readLeniently(schema);
  const check = compileSchema(rest);
  return { places: leftOut.map(({ place }) => place), takes: (value: unknown) => check(value) === undefined };
}

const ANY = { type: 'any' };

test('the rest of a schema is checked, also beside a property whose keyword is left out', () => {
  const { places, takes } = read({
    type: 'object',
    properties: { year: { type: 'string', pattern: '(?P<y>\\d{4})\\Z' }, count: { type: 'integer', maximum: 3 } },
    required: ['year'],
    additionalProperties: false,
  });
  expect(places).toEqual(['properties.year.pattern']);
  expect(takes({ year: 'some' })).toBe(true);
  for (const value of [{}, { year: 4 }, { year: 'a', count: 4 }, { year: 'a', other: 1 }]) {
    expect(takes(value)).toBe(false);
  }
});

test.for<[string, JsonObject, readonly string[], unknown]>([
  ['a negation', { not: { properties: { a: ANY } } }, ['not.properties.a.type', 'not'], { a: 1 }],
  ['one of several', { oneOf: [ANY, { type: 'string' }] }, ['oneOf[0].type', 'oneOf'], 'a'],
  ['a condition', JSON.parse('{"if":{"pattern":"(?!a)"},"then":false}'), ['if.pattern', 'if'], 'a'],
  ['a negation by reference', { $defs: { a: ANY }, not: { $ref: '#/$defs/a' } }, ['$defs.a.type', 'not'], 1],
  [
    'properties by pattern',
    { patternProperties: { '(?!a)': {} }, additionalProperties: false },
    ['patternProperties.(?!a)', 'additionalProperties'],
    { b: 1 },
  ],
  [
    'properties that are a list',
    { properties: [], additionalProperties: false },
    ['properties', 'additionalProperties'],
    { a: 1 },
  ],
  [
    'properties elsewhere',
    { $ref: '#/nowhere', unevaluatedProperties: false },
    ['$ref', 'unevaluatedProperties'],
    { a: 1 },
  ],
  ['what a list contains', { contains: ANY, maxContains: 1 }, ['contains.type', 'maxContains'], [1, 2]],
])('what refuses more once a part is left out is left out too: %s', ([, schema, left, value]) => {
  const { places, takes } = read(schema);
  expect(places).toEqual(left);
  expect(takes(value)).toBe(true);
});

test('keywords that are null are not there, and need no warning', () => {
  const { places, takes } = read({ type: 'object', title: null, required: null, properties: { a: { const: null } } });
  expect(places).toEqual([]);
  expect([takes({ a: null }), takes({ a: 1 })]).toEqual([true, false]);
});

test('schemas that take the same name are told apart by their places', () => {
  const inner = { $id: 'https://a.example/a', type: 'string' };
  const schema = { $id: 'https://a.example/a', $defs: { inner }, properties: { a: { $ref: '#/$defs/inner' } } };
  const { places, takes } = read(schema);
  expect(places).toEqual(['$id', '$defs.inner.$id']);
  expect([takes({ a: 'a' }), takes({ a: 1 })]).toEqual([true, false]);
});

test('a property may be called like a keyword, or like what every object inherits', () => {
  const properties = { required: ANY, constructor: { type: 'string' } };
  const { places, takes } = read({ properties, additionalProperties: false });
  expect(places).toEqual(['properties.required.type']);
  expect([takes({ required: 1, constructor: 'a' }), takes({ constructor: 1 })]).toEqual([true, false]);
});
