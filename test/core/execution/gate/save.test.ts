import { afterAll, expect } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';
import { confirm, discovered, policyPath, type Discovered } from '#test/core/integrations/tools/support.ts';

const hostile: HostileTools = await startHostileTools();
afterAll(() => hostile.stop());

const test = serviceTest();

const URL = 'https://example.com/feed.json';
const DEFAULTS = { tool: null, url: null, pointers: [], wakeOn: 'changed', maxQuietHours: null };

function idOf({ tools }: Discovered, name: string): string {
  return tools.find((tool) => tool.name === name)!.id;
}

function patchGate(key: ApiClient, id: string, gate: unknown) {
  return key.patch(`/v1/routines/${id}`, { gate });
}

test('a gate is optional, material, on record in each version and restored with it', async ({ key }) => {
  const id = await createRoutine(key);
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({ gate: null, revision: 1 });
  const gate = { url: URL, pointers: ['/items', '/a~1b'], wakeOn: 'not_empty', maxQuietHours: 24 };
  const saved = await patchGate(key, id, gate);
  expect(saved.data).toMatchObject({ gate: { ...DEFAULTS, ...gate }, revision: 2, state: 'draft' });
  // A gate that is written as it was read changes nothing.
  expect((await patchGate(key, id, saved.data.gate)).data).toMatchObject({ revision: 2 });
  expect((await patchGate(key, id, null)).data).toMatchObject({ gate: null, revision: 3 });

  const { data: versions } = await key.get(`/v1/routines/${id}/versions`);
  expect(versions.map(({ changed }: { changed: string[] }) => changed)).toEqual([['gate'], ['gate'], []]);
  const { data: second } = await key.get(`/v1/routines/${id}/versions/2`);
  expect(second.gate).toEqual(saved.data.gate);
  const restored = await key.post(`/v1/routines/${id}/versions/2/restore`);
  expect(restored.data).toMatchObject({ gate: saved.data.gate, revision: 4 });
  const { data: listed } = await key.get('/v1/routines');
  expect(listed[0]).not.toHaveProperty('gate');
});

test.for<[string, object, string]>([
  ['neither a tool nor a url', {}, 'gate: either a tool or a url'],
  [
    'both',
    { url: URL, tool: { policyId: 'pol_01kx3k9y6wfd8r0v5m2c7t4q9h', arguments: {} } },
    'gate: either a tool or a url',
  ],
  ['a pointer that is none', { url: URL, pointers: ['items'] }, 'gate.pointers[0]: a JSON Pointer'],
  ['the same pointer twice', { url: URL, pointers: ['/a', '/a'] }, 'the same pointer twice'],
  ['another way to wake', { url: URL, wakeOn: 'always' }, 'gate.wakeOn'],
  ['no quiet hours', { url: URL, maxQuietHours: 0 }, 'gate.maxQuietHours'],
  ['credentials', { url: URL, headers: { a: 'b' } }, 'headers'],
])('a gate with %s is refused', async ([, gate, message], { key }) => {
  const { status, body } = await key.post('/v1/routines', routineBody({ gate }));
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(body.error.message).toContain(message);
});

test.for<[string, string]>([
  ['http://127.0.0.1/feed', 'only https URLs are allowed'],
  ['https://127.0.0.1/feed', 'the address is not public'],
  ['https://[::ffff:169.254.169.254]/', 'the address is not public'],
  ['https://user:word@example.com/', 'a URL may not contain credentials'],
  ['nonsense', 'the URL cannot be parsed'],
])('a gate with the address %s is refused', async ([url, message], { service, key }) => {
  const guarded = await service.replica({ ALLOW_PRIVATE_NETWORK: 'false' });
  try {
    const client = key.at(guarded.url);
    const { status, body } = await client.post('/v1/routines', routineBody({ gate: { url } }));
    expect([status, body.error.code]).toEqual([400, 'invalid_gate']);
    expect(body.error.message).toMatch(/^gate\.url: /);
    expect(body.error.message).toContain(message);
  } finally {
    await guarded.close();
  }
});

test('the placeholder of a gate needs a gate', async ({ key }) => {
  const instructions = 'Look at {{gate.value}}.';
  const refused = await key.post('/v1/routines', routineBody({ instructions }));
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_variable']);
  expect(refused.body.error.message).toBe('instructions: no value for {{gate.value}}');
  const id = await createRoutine(key, { instructions, gate: { url: URL } });
  const without = await patchGate(key, id, null);
  expect([without.status, without.body.error.code]).toEqual([400, 'invalid_variable']);
  const both = await key.patch(`/v1/routines/${id}`, { gate: null, instructions: 'Look.' });
  expect(both.status).toBe(200);
});

test('the value of a gate counts towards the length of the text', async ({ key }) => {
  const instructions = '{{gate.value}}'.repeat(40);
  const gate = { url: URL };
  const { status, body } = await key.post('/v1/routines', routineBody({ instructions, gate }));
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(body.error.message).toContain('at most 400000 are allowed');
});

test('the tool of a gate is one of this routine, confirmed, reading only, and called with what it takes', async ({
  key,
  bobsKey,
}) => {
  const found = await discovered(key, { url: hostile.url('honest') });
  const { routineId } = found;
  const lookup = idOf(found, 'lookup');
  const refusal = async (policyId: string, args: unknown = { query: 'x' }, by = key) => {
    const { status, body } = await patchGate(by, routineId, {
      tool: { policyId, arguments: args },
    });
    return status === 200 ? 'saved' : `${status} ${body.error.code} ${body.error.message}`;
  };
  expect(await refusal(lookup)).toMatch(/^400 invalid_gate gate\.tool\.policyId: no person has conf/);
  await confirm(key, found, ['lookup', 'send_message']);
  expect(await refusal(idOf(found, 'send_message'), { to: 'x' })).toBe(
    '400 invalid_gate gate.tool.policyId: the server does not say that this tool only reads (readOnlyHint)',
  );
  expect(await refusal(lookup, { other: 1 })).toMatch(
    /^400 invalid_gate gate\.tool\.arguments: the arguments do not fit the tool/,
  );
  expect(await refusal(lookup, 'text')).toMatch(/^400 invalid_request gate\.tool\.arguments/);
  expect(await refusal(lookup, { query: 'y'.repeat(16_000) })).toMatch(
    /^400 invalid_request gate\.tool\.arguments: more than 16000/,
  );
  expect(await refusal(lookup)).toBe('saved');

  const narrowed = { confirmAutomaticExecution: true, argumentSchema: { required: ['never'] } };
  await key.patch(policyPath(routineId, { id: lookup }), narrowed);
  expect(await refusal(lookup)).toMatch(/outside of what was confirmed/);

  // Try the tool of another routine of the same project, and of a routine of another project.
  const other = await createRoutine(key);
  const gate = { tool: { policyId: lookup, arguments: { query: 'x' } } };
  const foreign = await patchGate(key, other, gate);
  expect(foreign.body.error.message).toBe('gate.tool.policyId: the routine has no such tool policy');
  expect(await refusal(lookup, { query: 'x' }, bobsKey)).toMatch(/^404 routine_not_found/);
  const bobs = await patchGate(bobsKey, await createRoutine(bobsKey), gate);
  expect(bobs.body.error.code).toBe('invalid_gate');
  const early = await key.post('/v1/routines', routineBody({ gate }));
  expect([early.status, early.body.error.code]).toEqual([400, 'invalid_gate']);
});

test('a tool that says it reads and destroys is not believed', async ({ key }) => {
  const [tool] = hostile.control.tools;
  const annotations = { readOnlyHint: true, destructiveHint: true };
  hostile.control.tools = [{ ...tool!, annotations }];
  const found = await discovered(key, { url: hostile.url('honest') });
  hostile.control.reset();
  await confirm(key, found, ['lookup']);
  const { body } = await patchGate(key, found.routineId, {
    tool: { policyId: idOf(found, 'lookup'), arguments: { query: 'x' } },
  });
  expect(body.error.code).toBe('invalid_gate');
});

test('a gate whose tool was disabled since does not block another change', async ({ key }) => {
  const found = await discovered(key, { url: hostile.url('honest') });
  await confirm(key, found, ['lookup']);
  const policyId = idOf(found, 'lookup');
  const gate = { tool: { policyId, arguments: { query: 'x' } } };
  expect((await patchGate(key, found.routineId, gate)).status).toBe(200);
  await key.patch(policyPath(found.routineId, { id: policyId }), { state: 'disabled' });
  const path = `/v1/routines/${found.routineId}`;
  expect((await key.patch(path, { name: 'Another name' })).status).toBe(200);
  expect((await key.patch(path, { gate })).status).toBe(400);
});
