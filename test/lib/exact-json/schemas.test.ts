import { expect, test } from 'vitest';
import { schemaFault } from '#core/clients/json-schemas/index.ts';
import { isJsonObject } from '#lib/json.ts';
import { parseExact } from '#lib/exact-json/parse.ts';

async function faultOf(schema: string, value: string): Promise<string | undefined> {
  const parsed = parseExact(schema);
  if (!isJsonObject(parsed)) throw new Error('no schema');
  return schemaFault('prj_numbers', parsed, parseExact(value));
}

const AS_TEXT = 'send an integer of more than 15 digits as text';

test('ten thousand numbers around a few doubles are told apart', async () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => String(2n ** 54n + BigInt(n)));
  expect(await faultOf('{"items":{"type":"integer"},"uniqueItems":true}', `[${ids.join()}]`)).toBeUndefined();
  const twice = [...ids, ids[5_001]];
  expect(await faultOf('{"items":{"type":"integer"},"uniqueItems":true}', `[${twice.join()}]`)).toMatch(/duplicate/);
});

test.for<[string, string]>([
  ['{"type":"integer"}', '1234567890123456789'],
  ['{"type":"integer"}', '-12345678901234567890.0'],
  ['{"type":"number"}', '0.1000000000000000000000000000001'],
  ['{"type":"number"}', '12345678901234567890.5'],
  ['{"type":"integer","minimum":1,"maximum":18446744073709551615}', '1234567890123456789'],
  ['{"items":{"type":"integer"},"uniqueItems":true}', '[9007199254740993,9007199254740992,9007199254740995]'],
  ['{"items":{"type":"integer","multipleOf":1}}', '[9007199254740993]'],
  [`{"items":{"type":"integer"}}`, `[1e400,${'7'.repeat(400)}]`],
])('%s takes %s', async ([schema, value]) => expect(await faultOf(schema, value)).toBeUndefined());

test.for<[string, string, string]>([
  ['{"type":"string"}', '1234567890123456789', 'the value must be string'],
  ['{"type":"integer"}', '0.1000000000000000000000000000001', 'the value must be integer'],
  ['{"maximum":10}', '1234567890123456789', 'the value must be <= 10'],
  ['{"type":"number","maximum":10}', '1e400', 'the value must be <= 10'],
  [
    '{"uniqueItems":true}',
    '[9007199254740993,1,9007199254740993.0]',
    'the value must NOT have duplicate items (items ## 0 and 2 are identical)',
  ],
])('%s says of %s what is wrong', async ([schema, value, issue]) => {
  expect(await faultOf(schema, value)).toBe(issue);
});

test.for<[string, string, string]>([
  ['{"maximum":9007199254740992}', '9007199254740993', `the value: ${AS_TEXT}`],
  ['{"properties":{"order":{"const":9007199254740992}}}', '{"order":9007199254740993}', `order: ${AS_TEXT}`],
  ['{"properties":{"order":{"const":1234567890123456789}}}', '{"order":1234567890123456788}', `order: ${AS_TEXT}`],
  ['{"items":{"enum":[9007199254740992]}}', '[9007199254740992,9007199254740993]', `1: ${AS_TEXT}`],
  ['{"multipleOf":10}', '1234567890123456780', `the value: ${AS_TEXT}`],
  ['{"type":"integer"}', '5.00000000000000000001', 'the value: send a number of more than 15 digits as text'],
  ['{"type":"integer"}', '12345678901234567890.5', 'the value: send a number of more than 15 digits as text'],
])('%s cannot be told of %s, which is refused', async ([schema, value, issue]) => {
  expect(await faultOf(schema, value)).toBe(issue);
});
