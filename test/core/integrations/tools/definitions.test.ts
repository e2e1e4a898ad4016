import fc from 'fast-check';
import { expect, test } from 'vitest';
import { definitionHash, isRepeatable } from '#core/integrations/tools/policy.ts';
import { assertUsableSchema, SchemaError, schemaFault } from '#core/clients/json-schemas/index.ts';
import { canonicalJson } from '#lib/json.ts';
import { redact } from '#core/integrations/tools/tool-result.ts';
import { TIMES } from '#test/support/properties.ts';
import { slowSchema } from './support.ts';

const TOOL = {
  name: 'send',
  title: null,
  description: 'Sends.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, text: {} } },
  outputSchema: null,
  annotations: { readOnlyHint: true },
};

test('the hash of a definition is the same with any order of its keys', () => {
  const reordered = {
    annotations: { readOnlyHint: true },
    inputSchema: { properties: { text: {}, to: { type: 'string' } }, type: 'object' },
    outputSchema: null,
    description: 'Sends.',
    title: null,
    name: 'send',
  };
  expect(definitionHash(reordered)).toBe(definitionHash(TOOL));
});

test.each([
  { name: 'Send' },
  { title: 'Send' },
  { description: 'Sends. ' },
  { inputSchema: { ...TOOL.inputSchema, required: ['to'] } },
  { outputSchema: {} },
  { annotations: null },
  { annotations: { readOnlyHint: false } },
])('a change of %o changes the hash', (change) => {
  expect(definitionHash({ ...TOOL, ...change })).not.toBe(definitionHash(TOOL));
});

test('canonical JSON says the same as the value, with any value and any order of its keys', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('__proto__', 'constructor', '', '0', '10', '2', 'é', 'e\u0301', '\ud800'),
  );
  const { value: any } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom(-0, 1e21, 5e-324, 2 ** 53, '\u2028', '\udfff'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(Object.fromEntries),
    ),
  }));
  fc.assert(
    fc.property(any, (value) => {
      const written = JSON.stringify(value);
      const canonical = canonicalJson(value);
      expect(JSON.parse(canonical)).toEqual(JSON.parse(written));
      expect(canonicalJson(reversed(JSON.parse(written)))).toBe(canonical);
    }),
    { numRuns: 300 * TIMES },
  );
});

/** Returns the same value with the members of its objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}

test('a value is checked in the dialect its schema names, 2020-12 where it names none', async () => {
  const tuple = { prefixItems: [{ type: 'string' }] };
  expect(await schemaFault('a project', { properties: { a: tuple } }, { a: [1] })).toContain('must be string');
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: tuple } };
  expect(await schemaFault('a project', draft7, { a: [1] })).toBeUndefined();
});

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a property called %s is there only where a value has it itself',
  async (name) => {
    const properties = { [name]: { type: 'string' } };
    expect(await schemaFault('a project', { type: 'object', properties }, {})).toBeUndefined();
    expect(await schemaFault('a project', { type: 'object', properties }, { [name]: 'x' })).toBeUndefined();
    expect(await schemaFault('a project', { type: 'object', properties }, { [name]: 1 })).toContain('string');
    expect(await schemaFault('a project', { type: 'object', required: [name] }, {})).toContain(name);
  },
);

test('a schema cannot take the place of another, or of its dialect', async () => {
  const dialect = 'https://json-schema.org/draft/2020-12/schema';
  try {
    await assertUsableSchema('a project', { $id: dialect, type: 'object' });
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
  }
  expect(await schemaFault('a project', { $id: 'https://example.com/a', type: 'object' }, {})).toBeUndefined();
  expect(await schemaFault('a project', { $id: 'https://example.com/a', type: 'string' }, {})).toContain('string');
  expect(await schemaFault('a project', { $schema: dialect, type: 'object' }, {})).toBeUndefined();
});

test.each([
  ['a foreign reference', { $ref: 'https://example.com/schema.json' }],
  ['an asynchronous schema', { $async: true, type: 'object' }],
  ['an unknown type', { type: 'nonsense' }],
])('%s is not a usable schema', async (_, schema) => {
  await expect(assertUsableSchema('a project', schema)).rejects.toThrow(SchemaError);
});

test('a schema that is nested deeper than the stack could follow is an error like any other', async () => {
  let deep: Record<string, unknown> = { type: 'string' };
  for (let level = 0; level < 100_000; level += 1) deep = { not: deep };
  await expect(assertUsableSchema('a project', deep)).rejects.toThrow(SchemaError);
});

test('a schema that takes for ever to check against ends as an error, and is not tried again', async () => {
  const schema = slowSchema('a');
  await assertUsableSchema('a project', schema);
  const started = process.cpuUsage();
  await expect(schemaFault('a project', schema, { a: 'a' })).rejects.toThrow(SchemaError);
  const first = process.cpuUsage(started).user;
  const again = process.cpuUsage();
  await expect(schemaFault('a project', schema, { a: 'aaa' })).rejects.toThrow(SchemaError);
  expect(process.cpuUsage(again).user).toBeLessThan(first);
});

test.each(['^(a|a)*$', '^(a+)+$'])(
  'the pattern %s, made to backtrack for ever, is checked as fast as any other',
  async (pattern) => {
    const schema = { properties: { a: { pattern } } };
    expect(await schemaFault('a project', schema, { a: 'aaa' })).toBeUndefined();
    expect(await schemaFault('a project', schema, { a: `${'a'.repeat(100_000)}!` })).toContain(pattern);
    // The check did not give up, as it does with a schema that takes too long.
    await assertUsableSchema('a project', schema);
  },
);

test.each([
  ['a lookahead', '^(?=a)'],
  ['a negative lookahead', '^(?!a)'],
  ['a lookbehind', '(?<=a)b'],
  ['a backreference', '^(a)\\1$'],
  ['a named backreference', '^(?<first>a)\\k<first>$'],
])('a pattern with %s is refused, and the refusal says why', async (_, pattern) => {
  const refusal = assertUsableSchema('a project', { properties: { a: { pattern } } });
  await expect(refusal).rejects.toThrow(SchemaError);
  await expect(refusal).rejects.toThrow('cannot be matched in linear time');
});

test('a pattern means what it means in JavaScript', async () => {
  const matches = async (pattern: string, text: string) =>
    (await schemaFault('a project', { properties: { a: { pattern } } }, { a: text })) === undefined;
  expect(await matches('^[\\p{L}\\d]+$', 'h\u00e91')).toBe(true);
  expect(await matches('^\\u{1F600}\\/\\u00e9$', '\u{1F600}/\u00e9')).toBe(true);
  expect(await matches('^a$', 'a\n')).toBe(false);
  expect(await matches('^(?<year>\\d{4})$', '2026')).toBe(true);
});

test('a schema with too many nodes is refused before anything is compiled', async () => {
  const before = process.cpuUsage();
  await expect(assertUsableSchema('a project', { properties: manyUnions(1_150) })).rejects.toThrow('it is too large');
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
});

function manyUnions(count: number): Record<string, object> {
  const union = { anyOf: [{ type: 'string' }, { type: 'number' }] };
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, union]));
}

test('secrets are redacted as they are, encoded for a URL, and in base64', () => {
  const secret = 'p4ss word/+1';
  const text = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')].join(' ');
  const clean = redact(text, [secret]);
  expect(clean).not.toMatch(/p4ss|cDRzcyB3/);
});

test.each([
  ['Authorization: Bearer abcdef0123456789abcd', 'Authorization: Bearer [redacted]'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [redacted]'],
  ['authorization=Token abcdef', 'authorization=Token [redacted]'],
  ['{"authorization":"ApiKey abcdef"}', '{"authorization":"ApiKey [redacted]"}'],
  ['Proxy-Authorization: Digest username="a", response="b1"', 'Proxy-Authorization: Digest [redacted]'],
  ['sent Token 0123456789abcdef0123', 'sent Token [redacted]'],
  ['Authorization: required', 'Authorization: required'],
  ['the token of this session', 'the token of this session'],
  ['Basic internationalization skills', 'Basic internationalization skills'],
  ['the bearer of this letter', 'the bearer of this letter'],
  [`key sk-${'a1'.repeat(12)} end`, 'key [redacted] end'],
])('%s is recorded as %s', (text, recorded) => {
  expect(redact(text, [])).toBe(recorded);
});

test('a call may be made again only where the confirmed claims of the server allow it', () => {
  const policy = { state: 'automatic' as const, definitionHash: 'a', confirmedHash: 'a' };
  const claims = (annotations: Record<string, unknown> | null) => isRepeatable({ ...policy, annotations });
  expect([
    claims(null),
    claims({}),
    claims({ readOnlyHint: true }),
    claims({ idempotentHint: true }),
    claims({ readOnlyHint: 'true' }),
    claims({ readOnlyHint: true, destructiveHint: true }),
    isRepeatable({ ...policy, confirmedHash: 'b', annotations: { readOnlyHint: true } }),
    isRepeatable({ ...policy, state: 'disabled', annotations: { readOnlyHint: true } }),
  ]).toEqual([false, false, true, true, false, false, false, false]);
});
