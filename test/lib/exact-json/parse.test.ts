import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storableJson } from '#lib/database/index.ts';
import { canonicalJson } from '#lib/json.ts';
import { ExactNumber, findExact, parseExact, sendAsText } from '#lib/exact-json/parse.ts';
import { TIMES } from '#test/support/properties.ts';

function digits(maxLength: number) {
  return fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength }).map((each) => each.join(''));
}
const whole = digits(60).map((text) => text.replace(/^0+(?=\d)/, ''));
/** Numbers as any program may write them. */
const source = fc
  .tuple(fc.constantFrom('', '-'), whole, fc.option(digits(40)), fc.option(fc.integer({ min: -450, max: 450 })))
  .map(([sign, int, fraction, power]) => {
    return `${sign}${int}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `e${power}`}`;
  });

/** Returns the value of a number as a fraction, so that two notations can be compared. */
function valueOf(text: string): string {
  const [, sign, int = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const shift = Number(power) - fraction.length + 1_000;
  const value = BigInt(int + fraction) * 10n ** BigInt(shift);
  return String(sign === '-' ? -value : value);
}

test('every number that is parsed is written with its value, and what a double does not hold as it was', () => {
  fc.assert(
    fc.property(source, (text) => {
      const written = JSON.stringify(parseExact(text));
      expect(valueOf(written)).toBe(valueOf(text));
      const isRounded = !Number.isFinite(Number(text)) || valueOf(String(Number(text))) !== valueOf(text);
      if (isRounded) expect(written).toBe(text);
      else expect(parseExact(text)).toBe(Number(text));
    }),
    { numRuns: 2_000 * TIMES },
  );
});

test('a text without such numbers parses into what the platform makes of it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseExact(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('numbers are kept at any place, and nothing within a text is taken for one', () => {
  const text =
    '{"12345678901234567890":[12345678901234567890,{"a":"9: 12345678901234567890, 1e400","__proto__":1e400}],"b":-0.1000000000000000000000000000001}';
  expect(JSON.stringify(parseExact(text))).toBe(text);
  expect(JSON.stringify(parseExact(` [ 1e400 ,\n-9007199254740993 ] `))).toBe('[1e400,-9007199254740993]');
});

test.for([
  ['1', '1.0'],
  ['0', '-0'],
  ['100000', '1e5'],
  ['12345678901234567890', '12345678901234567890.0'],
  ['12345678901234567890', '1.2345678901234567890E+19'],
  [`1${'0'.repeat(400)}`, '1e400'],
])('%s and %s are equal', ([one, other]) => {
  expect(canonicalJson(parseExact(one!))).toBe(canonicalJson(parseExact(other!)));
});

test.for([
  ['12345678901234567890', '12345678901234567891'],
  ['9007199254740992', '9007199254740993'],
  ['0.1', '0.1000000000000000000000000000001'],
  ['1e400', '1e401'],
  ['1e-400', '0'],
  ['-1e400', '1e400'],
])('%s and %s differ', ([one, other]) => {
  expect(canonicalJson(parseExact(one!))).not.toBe(canonicalJson(parseExact(other!)));
});

test('a number of 400 digits is stored as it is, and one that Postgres cannot hold as a text', () => {
  const long = '7'.repeat(400);
  expect(storableJson(parseExact(`{"a":${long}}`))).toBe(`{"a":${long}}`);
  for (const huge of ['1e200000', '-1e-20000', '7'.repeat(2_000), `0.${'0'.repeat(1_500)}1`]) {
    expect(storableJson(parseExact(`{"a":[${huge}]}`))).toBe(`{"a":["${huge}"]}`);
  }
});

test('the first such number of a value is named with its place', () => {
  const found = findExact(parseExact('{"a":[1,{"b c":12345678901234567890.5}],"d":1e999}'));
  expect(found).toEqual({ path: ['a', 1, 'b c'], number: new ExactNumber('12345678901234567890.5') });
  expect(found && sendAsText(found.number)).toBe('send a number of more than 15 digits as text');
});

test('a number is found among many others at a great depth', () => {
  const depth = 2_000;
  const text = `${'['.repeat(depth)}${'1,'.repeat(100_000)}1e400${']'.repeat(depth)}`;
  const found = findExact(parseExact(text));
  expect(found?.path).toHaveLength(depth);
  expect(found?.path.at(-1)).toBe(100_000);
});

test('a megabyte of zeros takes no time to speak of', () => {
  const text = `[0.${'0'.repeat(1_000_000)}1]`;
  expect(JSON.stringify(parseExact(text))).toBe(text);
});

test('canonical JSON is that of RFC 8785, section 3.2.2 to 3.2.4', () => {
  const text = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  expect(canonicalJson(JSON.parse(text))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  expect(Object.values(JSON.parse(canonicalJson(names)) as object)).toHaveLength(7);
  const order = Array.from(canonicalJson(names).matchAll(/:(\d)/g), ([, value]) => value);
  expect(order.join('')).toBe('2467153');
});
