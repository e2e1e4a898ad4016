import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JSON_POINTER, valueAt } from '#lib/json.ts';

/** The examples of RFC 6901, section 5. */
const DOCUMENT = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

test.for<[string, unknown]>([
  ['', DOCUMENT],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
  ['/foo/2', undefined],
  ['/foo/01', undefined],
  ['/foo/00', undefined],
  ['/foo/-', undefined],
  ['/nothing', undefined],
  ['/foo/length', undefined],
  ['/constructor', undefined],
  ['/__proto__', undefined],
  ['/foo/0/length', undefined],
])('the pointer "%s" leads where RFC 6901 says', ([pointer, value]) => {
  expect(JSON_POINTER.test(pointer)).toBe(true);
  expect(valueAt(DOCUMENT, pointer)).toEqual(value);
});

test.for(['a', '/a~', '/a~2', '~0', '#/a', ' /a'])('"%s" is no pointer', (text) => {
  expect(JSON_POINTER.test(text)).toBe(false);
});

test('every member of an object is found under its name, with any characters', () => {
  const names = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a', '\n', '\u2028', '\ud800') }),
    fc.constantFrom('', '__proto__', 'constructor', '-', '00', '~01'),
  );
  fc.assert(
    fc.property(names, fc.jsonValue(), (name, value) => {
      const object = Object.fromEntries([[name, value]]);
      const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      expect(JSON_POINTER.test(pointer)).toBe(true);
      expect(valueAt(object, pointer)).toEqual(value);
    }),
  );
});

test('a pointer of thousands of tokens is read in time', () => {
  const pointer = '/~'.repeat(50_000);
  expect(JSON_POINTER.test(pointer)).toBe(false);
  expect(valueAt({}, '/a'.repeat(50_000))).toBeUndefined();
});
