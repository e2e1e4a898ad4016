import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { discoverTools } from '#core/integrations/tools/index.ts';
import { headerAnnotationFault } from '#core/clients/mcp/definition.ts';
import type { ToolClaim } from '#dev/fakes/hostile-tools/scenarios.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from '#test/core/integrations/tools/hostile-fixture.ts';
import {
  connect,
  discovered,
  marker,
  routineWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';
import { changeConnections } from '#test/support/given.ts';

function annotated(header: unknown, type: unknown = 'string') {
  return { type, 'x-mcp-header': header };
}
function object(properties: object) {
  return { type: 'object', properties };
}

test.each<[string, Json]>([
  ['no annotation', object({ a: { type: 'string' } })],
  [
    'one on each type that may be mirrored',
    object({
      a: annotated('A'),
      b: annotated('B', 'integer'),
      c: annotated('C', 'boolean'),
    }),
  ],
  ['one below properties of properties', object({ a: object({ b: annotated('Deep') }) })],
  ['a parameter that is called like the annotation', object({ 'x-mcp-header': { type: 'object' } })],
  ['data that looks like one', { ...object({}), default: { 'x-mcp-header': '' }, const: annotated('') }],
])('%s is valid', (_, schema) => {
  expect(headerAnnotationFault(schema)).toBeUndefined();
});

test.each<[string, Json, RegExp]>([
  ['an empty name', object({ a: annotated('') }), /not a header name/],
  ['a name that is no text', object({ a: annotated(1) }), /not a header name/],
  ['a name with a space', object({ a: annotated('My Header') }), /not a header name/],
  ['a name with a line end', object({ a: annotated('A\r\nEvil: 1') }), /not a header name/],
  ['a number', object({ a: annotated('A', 'number') }), /type is not/],
  ['an object', object({ a: annotated('A', 'object') }), /type is not/],
  ['a list of types', object({ a: annotated('A', ['string', 'null']) }), /type is not/],
  ['no type', object({ a: { 'x-mcp-header': 'A' } }), /type is not/],
  ['the same name twice', object({ a: annotated('Region'), b: object({ c: annotated('REGION') }) }), /same header/],
  ['one at the root', { ...object({}), 'x-mcp-header': 'A' }, /properties only/],
  ['one in a list', object({ a: { type: 'array', items: annotated('A') } }), /properties only/],
  ['one in an alternative', object({ a: { anyOf: [annotated('A')] } }), /properties only/],
  ['one below an alternative', { oneOf: [object({ a: annotated('A') })] }, /properties only/],
  ['one in a definition', { ...object({}), $defs: { a: annotated('A') } }, /properties only/],
  ['one in a condition', { ...object({}), if: object({ a: annotated('A') }) }, /properties only/],
  ['one for any property', { ...object({}), additionalProperties: annotated('A') }, /properties only/],
])('%s is not valid', (_, schema, why) => {
  expect(headerAnnotationFault(schema)).toMatch(why);
});

let fixture: HostileFixture;
let { service, hostile, person, key } = {} as HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
  ({ service, hostile, person, key } = fixture);
});
beforeEach(() => hostile.control.reset());
afterAll(() => fixture?.close());

const VALID: ToolClaim = {
  name: 'query',
  inputSchema: object({ region: annotated('Region'), size: annotated('Size', 'integer') }),
};
const INVALID: ToolClaim = {
  name: 'broken',
  inputSchema: object({ region: annotated('My Region') }),
};

test('a tool with an invalid annotation is left out of a discovery, with the reason in the response and the log', async () => {
  hostile.control.tools = [INVALID, VALID];
  const found = await discovered(key, { url: hostile.url('modern') });
  expect(found.tools.map(({ name }) => name)).toEqual(['query']);
  const { routineId, connectionId } = found;
  const again = await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  expect(again.data).toMatchObject({
    unchanged: 1,
    skipped: 1,
    skippedTools: [
      { name: 'broken', field: null, reason: 'its x-mcp-header annotation is invalid: it is not a header name' },
    ],
  });

  const lines: Json[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const deps = { ...service.deps, log: pino({}, sink) };
  const scope = { projectId: person.projectId, routineId, connectionId };
  await discoverTools(deps, scope, {
    kind: 'key',
    id: 'key_of_the_test',
    address: null,
  });
  expect(lines).toMatchObject([
    { msg: 'a tool was left out', tool: 'broken', reason: expect.stringContaining('x-mcp-header') },
  ]);
});

test('a server of an earlier protocol may say anything there: nothing is mirrored', async () => {
  hostile.control.tools = [INVALID];
  const { tools } = await discovered(key, { url: hostile.url('honest') });
  expect(tools.map(({ name }) => name)).toEqual(['broken']);
});

test('a valid annotation sends the argument along in a header', async () => {
  hostile.control.tools = [VALID];
  const mark = marker();
  const { routineId } = await routineWith(key, ['query'], {
    connection: { url: hostile.url('modern') },
    routine: { instructions: mark },
  });
  scriptCalls(service, mark, { name: 'query', arguments: { region: 'Malmö', size: 3 } });
  const run = await runOnce(key, routineId);
  expect(toolSteps(run)[0]).toMatchObject({ state: 'succeeded' });
  expect(hostile.control.calls[0]!.headers).toMatchObject({
    'mcp-param-region': `=?base64?${Buffer.from('Malmö').toString('base64')}?=`,
    'mcp-param-size': '3',
  });
});

test('a tool that was confirmed before with an invalid annotation is not called, and is gone for its routine', async () => {
  hostile.control.tools = [INVALID];
  const mark = marker();
  const { routineId, connectionId } = await routineWith(key, ['broken'], {
    connection: { url: hostile.url('honest') },
    routine: { instructions: mark },
  });
  await changeConnections(service.deps.database, connectionId, { url: hostile.url('modern') });
  scriptCalls(service, mark, { name: 'broken', arguments: { region: 'north' } });
  const run = await runOnce(key, routineId);
  expect(toolSteps(run)[0]).toMatchObject({
    state: 'failed',
    errorMessage: expect.stringContaining('no longer has this tool'),
  });
  expect(hostile.control.calls).toEqual([]);
  const { data } = await key.get(`/v1/routines/${routineId}/tools`);
  expect(data[0]).toMatchObject({ state: 'disabled', vanishedAt: expect.any(String) });
});

test('a definition nested too deeply is left out like one that is too large', async () => {
  let deep: object = { type: 'string' };
  for (let level = 0; level < 300; level += 1) deep = { not: deep };
  hostile.control.tools = [{ name: 'abyss', inputSchema: object({ a: deep }) }, VALID];
  const connectionId = await connect(key, { url: hostile.url('honest') });
  const routineId = await createRoutine(key);
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  const { status, data, body } = await key.post(path);
  expect([status, body.error]).toEqual([200, undefined]);
  expect(data.skippedTools).toMatchObject([{ name: 'abyss' }]);
});
