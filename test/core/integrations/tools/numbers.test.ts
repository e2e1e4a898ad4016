import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseExact } from '#lib/exact-json/parse.ts';
import { activate, scheduledRun } from '#test/core/execution/gate/support.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from './hostile-fixture.ts';
import {
  discovered,
  confirm,
  marker,
  policyPath,
  requestsWith,
  routineWith,
  scriptCalls,
  toolSteps,
} from './support.ts';

const ORDER = '1234567890123456789';
const OTHER = '1234567890123456790';
/** JSON with a number of each kind that a double cannot represent. */
const LONG = `{"a":${ORDER},"b":[-9007199254740993,{"c d":0.1000000000000000000000000000001}],"e":${'7'.repeat(400)}}`;

let fixture: HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
});
afterAll(() => fixture?.close());
beforeEach(() => fixture.hostile.control.reset());

const inputSchema = { type: 'object', properties: { a: { type: 'integer' } } };

async function routineOf(
  scenario: Parameters<HostileFixture['hostile']['url']>[0],
  limits = {},
  fields = {},
  told = '',
) {
  const { hostile, key } = fixture;
  hostile.control.tools = [{ name: 'order', inputSchema, annotations: { readOnlyHint: true } }];
  const mark = marker();
  const { routineId } = await routineWith(key, ['order'], {
    connection: { url: hostile.url(scenario) },
    routine: { ...fields, instructions: `${mark} Look at the order. ${told}` },
    limits,
  });
  return { mark, routineId };
}

test.for(['honest', 'streaming', 'modern'] as const)(
  'a number of any length reaches a server and comes back as it was written: %s',
  async (scenario) => {
    const { hostile, key, service } = fixture;
    hostile.control.answer = () => ({ content: [], structuredContent: Object(parseExact(LONG)) });
    const { mark, routineId } = await routineOf(scenario);
    scriptCalls(service, mark, { name: 'order', arguments: LONG });
    const run = await runOnce(key, routineId);
    expect(run.state).toBe('succeeded');
    expect(JSON.stringify(hostile.control.calls.at(-1)?.arguments)).toBe(LONG);
    const [step] = toolSteps(run);
    expect(step).toMatchObject({ state: 'succeeded', tool: { arguments: LONG, structured: LONG } });
    // The model gets its own arguments and the result.
    const { messages } = requestsWith(service, mark).at(-1).body;
    const [asked, answered] = messages.slice(-2);
    expect(asked.tool_calls[0].function.arguments).toBe(LONG);
    expect(answered.content).toContain(LONG);
  },
);

test('numbers that are equal as doubles are different orders to what was confirmed', async () => {
  const { hostile, key, service } = fixture;
  const limits = { argumentSchema: { properties: { a: { type: 'integer', maximum: 2 ** 60, enum: [2 ** 60, 5] } } } };
  const { mark, routineId } = await routineOf('honest', limits);
  scriptCalls(
    service,
    mark,
    { name: 'order', arguments: `{"a":${2n ** 60n + 1n}}` },
    { name: 'order', arguments: `{"a":5.00000000000000000001}` },
    { name: 'order', arguments: `{"a":1e2000}` },
    { name: 'order', arguments: `{"a":1,"b":{"x":1,"x":2}}` },
    { name: 'order', arguments: `{"a":5}` },
  );
  const steps = toolSteps(await runOnce(key, routineId));
  expect(steps.map(({ errorMessage }) => errorMessage)).toEqual([
    'Refused: the arguments are outside of what was confirmed for this routine: a: send an integer of more than 15 digits as text.',
    'Refused: the arguments do not fit the tool: a: send a number of more than 15 digits as text.',
    null,
    'Refused: a: send an integer of more than 1000 digits as text.',
    'Refused: b.x: send this name once.',
  ]);
  expect(hostile.control.calls.map(({ arguments: args }) => args)).toEqual([{ a: 5 }]);
});

test('the schemas of a server keep their numbers, and a schema of ours may have none of that length', async () => {
  const { hostile, key, service } = fixture;
  const limited = parseExact(`{"type":"integer","minimum":0,"maximum":18446744073709551615,"examples":[${ORDER}]}`);
  hostile.control.tools = [{ name: 'order', inputSchema: { type: 'object', properties: { a: limited } } }];
  const mark = marker();
  const found = await discovered(key, { url: hostile.url('honest') }, { instructions: mark });
  await confirm(key, found, ['order']);
  scriptCalls(service, mark, { name: 'order', arguments: `{"a":${ORDER}}` });
  const [step] = toolSteps(await runOnce(key, found.routineId));
  expect(step.state).toBe('succeeded');
  const [{ body }] = requestsWith(service, mark);
  expect(JSON.stringify(body.tools[0].function.parameters)).toContain('18446744073709551615');
  const path = policyPath(found.routineId, found.tools[0]);
  expect((await key.get(`/v1/routines/${found.routineId}/tools`)).text).toContain('"maximum":18446744073709551615');
  for (const [place, schema] of [
    ['properties.a.maximum', `{"properties":{"a":{"maximum":${ORDER}}}}`],
    ['properties.a.const', `{"properties":{"a":{"const":${ORDER}}}}`],
    ['properties.a.enum[1]', `{"properties":{"a":{"enum":[1,${ORDER}]}}}`],
  ]) {
    const { status, body: refused } = await key.send('PATCH', path, `{"argumentSchema":${schema}}`);
    expect([status, refused.error.code]).toEqual([400, 'invalid_request']);
    expect(refused.error.message).toBe(
      `argumentSchema.${place}: a number of more than 15 digits cannot be checked exactly`,
    );
  }
});

test('a gate asks with every digit, and wakes the model for another number of the same double', async () => {
  const { hostile, key, service } = fixture;
  const { mark, routineId } = await routineOf('honest');
  const [policy] = (await key.get(`/v1/routines/${routineId}/tools`)).data;
  let order = ORDER;
  hostile.control.answer = () => ({ content: [], structuredContent: Object(parseExact(`{"last":${order}}`)) });
  const gate = `{"tool":{"policyId":"${policy.id}","arguments":{"a":${ORDER}}},"pointers":["/last"]}`;
  const change = `{"gate":${gate},"schedule":"@daily","instructions":"${mark} Last: {{gate.value}}"}`;
  const { status, text } = await key.send('PATCH', `/v1/routines/${routineId}`, change);
  expect([status, text]).toEqual([200, expect.stringContaining(`"arguments":{"a":${ORDER}}`)]);
  await activate(key, routineId);
  const same = await scheduledRun(service, key, routineId);
  expect(same).toMatchObject({ state: 'skipped', gate: { reason: 'unchanged' } });
  order = OTHER;
  const other = await scheduledRun(service, key, routineId);
  expect(other).toMatchObject({ state: 'succeeded', gate: { reason: 'changed' } });
  expect(JSON.stringify(requestsWith(service, mark).at(-1).body)).toContain(OTHER);
  expect(hostile.control.calls.map(({ arguments: args }) => JSON.stringify(args))).toContain(`{"a":${ORDER}}`);
});

const RESULT = {
  resultSchema: {
    type: 'object',
    properties: {
      orders: {
        type: 'array',
        uniqueItems: true,
        items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      },
    },
    required: ['orders'],
  },
  resultKey: { list: '/orders', key: '/id' },
};

test('typed data keeps its numbers and its keys, up to the webhook and the differences', async () => {
  const { key, service } = fixture;
  const { origin, received } = await startReceiver((_, response) => response.writeHead(204).end());
  const { mark, routineId } = await routineOf(
    'honest',
    {},
    { ...RESULT, webhookUrl: `${origin}/hook` },
    '{{previous.data}}',
  );
  const before = `{"orders":[{"id":${ORDER}},{"id":${OTHER}},{"id":12345678901234567890}]}`;
  scriptCalls(service, mark, { name: 'finish', arguments: `{"result":${before}}` });
  const first = await runOnce(key, routineId);
  expect(first).toMatchObject({ state: 'succeeded', changes: { counts: { added: 3, removed: 0, changed: 0 } } });
  const { text } = await key.get(`/v1/runs/${first.id}`);
  expect(text).toContain(`"data":${before}`);
  await expect.poll(() => received.length).toBe(1);
  expect(received[0]?.body).toContain(`"data":${before}`);
  expect(received[0]?.body).toContain(`{"id":12345678901234567890}`);

  const after = `{"orders":[{"id":${ORDER},"paid":true},{"id":12345678901234567891}]}`;
  scriptCalls(service, mark, { name: 'finish', arguments: `{"result":${after}}` });
  const second = await runOnce(key, routineId);
  // The second run receives the data of the first.
  expect(second.prompt).toContain(before);
  const counts = { added: 1, removed: 2, changed: 1 };
  expect(second.changes).toMatchObject({ against: first.id, counts });
  const diff = await key.get(`/v1/runs/${second.id}/diff`);
  expect(diff.text).toContain(`"key":${ORDER}`);
  expect(diff.text).toContain('{"id":12345678901234567891}');
});

test('typed data that names something twice is sent back with the name', async () => {
  const { key, service } = fixture;
  const { mark, routineId } = await routineOf('honest', {}, RESULT);
  const good = '{"orders":[{"id":1}]}';
  scriptCalls(service, mark, { name: 'finish', arguments: `{"result":{"orders":[{"id":1}],"orders":[]}}` });
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text: '{"orders":[],"orders":[]}' } });
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text: good } });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'succeeded', data: JSON.parse(good) });
  const [, second, third] = requestsWith(service, mark);
  expect(second.body.messages.at(-1).content).toContain('Refused: result.orders: send this name once.');
  expect(third.body.messages.at(-1).content).toContain('orders: send this name once');
});
