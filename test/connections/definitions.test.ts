import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, definitionHash } from '#core/connections/tools/definition.ts';
import {
  assertUsableSchema,
  schemaFault,
  SchemaError,
} from '#core/connections/tools/json-schema.ts';
import { isRepeatable } from '#core/connections/tools/policy.ts';
import { redact } from '#core/runs/redact.ts';

const TOOL = {
  name: 'send',
  title: null,
  description: 'Sends.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, text: {} } },
  outputSchema: null,
  annotations: { readOnlyHint: true },
};

test('the hash of a definition is the same in whatever order its keys come', () => {
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

test('canonical JSON says the same as the value, whatever the value is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('a value is checked in the dialect its schema names, 2020-12 where it names none', () => {
  const tuple = { prefixItems: [{ type: 'string' }] };
  expect(schemaFault({ properties: { a: tuple } }, { a: [1] })).toContain('must be string');
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: tuple } };
  expect(schemaFault(draft7, { a: [1] })).toBeUndefined();
});

test('a schema cannot take the place of another, or of its dialect', () => {
  const dialect = 'https://json-schema.org/draft/2020-12/schema';
  try {
    assertUsableSchema({ $id: dialect, type: 'object' });
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
  }
  expect(schemaFault({ $id: 'https://example.com/a', type: 'object' }, {})).toBeUndefined();
  expect(schemaFault({ $id: 'https://example.com/a', type: 'string' }, {})).toContain('string');
  expect(schemaFault({ $schema: dialect, type: 'object' }, {})).toBeUndefined();
});

test.each([
  ['a foreign reference', { $ref: 'https://example.com/schema.json' }],
  ['an asynchronous schema', { $async: true, type: 'object' }],
  ['an unknown type', { type: 'nonsense' }],
])('%s is not a usable schema', (_, schema) => {
  expect(() => assertUsableSchema(schema)).toThrow(SchemaError);
});

test('a schema that is nested deeper than the stack could follow is an error like any other', () => {
  let deep: Record<string, unknown> = { type: 'string' };
  for (let level = 0; level < 100_000; level += 1) deep = { not: deep };
  expect(() => assertUsableSchema(deep)).toThrow(SchemaError);
});

test('a pattern that backtracks for ever ends as an error, and is not tried again', () => {
  const schema = { properties: { a: { pattern: '^(a|a)*$' } } };
  const started = performance.now();
  expect(() => schemaFault(schema, { a: `${'a'.repeat(60)}!` })).toThrow(SchemaError);
  const first = performance.now() - started;
  expect(() => schemaFault(schema, { a: 'aaa' })).toThrow(SchemaError);
  expect(performance.now() - started - first).toBeLessThan(first);
});

test('secrets are redacted as they are, encoded for a URL, and in base64', () => {
  const secret = 'p4ss word/+1';
  const text = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')].join(
    ' ',
  );
  const clean = redact(text, [secret]);
  expect(clean).not.toMatch(/p4ss|cDRzcyB3/);
});

test.each([
  ['Authorization: Bearer abcdef0123456789abcd', 'Authorization: Bearer [redacted]'],
  ['Basic internationalization skills', 'Basic internationalization skills'],
  ['the bearer of this letter', 'the bearer of this letter'],
  [`key sk-${'a1'.repeat(12)} end`, 'key [redacted] end'],
])('%s is recorded as %s', (text, recorded) => {
  expect(redact(text, [])).toBe(recorded);
});

test('a call may be made again only where the confirmed claims of the server allow it', () => {
  const policy = { state: 'automatic' as const, definitionHash: 'a', confirmedHash: 'a' };
  const claims = (annotations: Record<string, unknown> | null) =>
    isRepeatable({ ...policy, annotations });
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
