import fc from 'fast-check';
import { expect, test } from 'vitest';
import { doubledName } from '#lib/exact-json/faults.ts';

function doubled(text: string) {
  return doubledName(text, JSON.parse(text));
}

test.for<[string, (string | number)[]]>([
  ['{"name":"a","name":"b"}', ['name']],
  ['{ "a" : [ 1, { "b\\u0063" : 1 , "x":"," , "bc" : 2 } ] }', ['a', 1, 'bc']],
  ['[[],[{"a":{"b":1},"c":{"b":1,"b":{}}}]]', [1, 0, 'c', 'b']],
  ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ['{"a\\\\":1,"a\\\\":2}', ['a\\']],
  ['{"":1,"":2}', ['']],
])('%s names %j twice', ([text, path]) => expect(doubled(text)).toEqual(path));

test.for([
  '{"a":{"a":{"a":[]}},"b":[{"a":1},{"a":1}]}',
  '{"a":"\\"a\\": 1, \\"a\\": 2","b":"a\\\\","c":"{\\"c\\":"}',
  '"text"',
  '[]',
])('%s names nothing twice', (text) => expect(doubled(text)).toBeUndefined());

test('no text that was written from a value names anything twice', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(doubled(JSON.stringify(value))).toBeUndefined();
    }),
  );
});
