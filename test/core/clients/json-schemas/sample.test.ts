import { expect, test } from 'vitest';
import { compileSchema } from '#core/clients/json-schemas/compile.ts';
import { sampleOf } from '#core/clients/json-schemas/sample.ts';
import type { JsonObject } from '#lib/json.ts';

test.each<[string, JsonObject]>([
  [
    'texts with formats and lengths',
    { properties: { at: { type: 'string', format: 'date-time' }, id: { type: 'string', minLength: 30 } } },
  ],
  [
    'numbers with bounds',
    { properties: { n: { type: 'integer', exclusiveMinimum: 6, multipleOf: 5 }, m: { type: 'number', maximum: -2 } } },
  ],
  [
    'lists',
    {
      properties: {
        list: { type: 'array', minItems: 3, items: { enum: ['a'] } },
        pair: { prefixItems: [{ const: 1 }] },
      },
    },
  ],
  [
    'alternatives',
    {
      anyOf: [{ properties: { a: { type: 'boolean' } }, required: ['a'] }],
      allOf: [{ properties: { b: { default: 2 } } }],
    },
  ],
  ['references', { $ref: '#/$defs/a%20b', $defs: { 'a b': { properties: { x: { type: ['null', 'string'] } } } } }],
  [
    'a name that objects inherit',
    JSON.parse('{"properties":{"__proto__":{"const":1},"toString":{"const":2}},"required":["__proto__","toString"]}'),
  ],
])('a sample of %s satisfies its schema', (_, schema) => {
  const whole: JsonObject = { type: 'object', ...schema };
  expect(compileSchema(whole)(sampleOf(whole, true))).toBeUndefined();
  expect(compileSchema(whole)(sampleOf(whole, false))).toBeUndefined();
});

const LOOP = { $ref: '#/$defs/loop' };
const WIDE = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`p${nth}`, { type: 'string' }]));

test.each<[string, JsonObject]>([
  ['refers to itself', { $defs: { loop: LOOP }, ...LOOP }],
  ['needs itself', { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }],
  ['refers to nothing', { $ref: '#/$defs/%E0%A4%A' }],
  ['has thousands of members', { type: 'object', properties: WIDE, required: Object.keys(WIDE) }],
  ['branches without end', { type: 'array', minItems: 100, items: { $ref: '#' } }],
  ['has an example of a megabyte', { type: 'string', examples: ['x'.repeat(1_000_000)] }],
  ['has a text of a megabyte', { type: 'string', minLength: 1_000_000 }],
  ['is no schema at all', { type: 7, properties: [], required: 'x', items: 3, enum: {} }],
])('a schema that %s has a bounded sample', (_, schema) => {
  for (const withOptional of [true, false]) {
    expect((JSON.stringify(sampleOf(schema, withOptional)) ?? '').length).toBeLessThan(20_000);
  }
});
