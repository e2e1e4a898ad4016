import { expect, test } from 'vitest';
import { collectStream } from '#core/clients/gateway/stream.ts';
import { calculateTool } from '#core/clients/calculate/index.ts';
import { parseExact } from '#lib/exact-json/parse.ts';

test('arguments that a server sends as an object keep their digits', async () => {
  const args = '{"order":1234567890123456789}';
  const chunk = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${args}}}]},"finish_reason":"tool_calls"}]}`;
  const body = await collectStream(
    (async function* () {
      yield Buffer.from(`data: ${chunk}\n\ndata: [DONE]\n\n`);
    })(),
    () => {
      throw new Error('refused');
    },
  );
  expect(JSON.stringify(body)).toContain(JSON.stringify(args));
});

test.for<[string, string]>([
  [
    '{"operation":"arithmetic","expression":"x","variables":{"x":1234567890123456789}}',
    'variables.x: send an integer of more than 15 digits as text',
  ],
  ['{"operation":"series","values":[1,1e400]}', 'values.1: send at most 15 digits of this number'],
  [
    '{"operation":"several","calls":[{"operation":"series","values":[0.12345678901234567891]}]}',
    'calls.0.values.0: send at most 15 digits of this number',
  ],
])('%s is not computed with a rounded number', ([args, error]) => {
  expect(calculateTool.execute(parseExact(args))).toEqual({ ok: false, error });
});

test('a long number as text is computed with every digit', () => {
  const args = { operation: 'arithmetic', expression: 'x + 1', variables: { x: '1234567890123456789' } };
  expect(calculateTool.execute(args)).toMatchObject({ ok: true, result: { value: '1234567890123456790' } });
});
