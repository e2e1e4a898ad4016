import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { BoundedThread } from '#lib/bounded-thread.ts';
import { assertUsableSchema, schemaFault } from '#core/clients/json-schemas/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { routineBody } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { discovered, policyPath, type Json } from '#test/core/integrations/tools/support.ts';

let service: Service;
let hostile: HostileTools;
let key: ApiClient;

beforeAll(async () => {
  [service, hostile] = await Promise.all([sharedService(), startHostileTools()]);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await hostile?.stop();
});

/** Makes schemas that differ in each request, each of which takes a good part of a second to compile. */
function unions(count: number, name: string): Json {
  const union = { anyOf: [{ type: 'string' }, { type: 'number' }] };
  const properties = Array.from({ length: count }, (_, index) => [`${name}${index}`, union]);
  return { properties: Object.fromEntries(properties) };
}

test('a schema too large is refused by its size, and one that takes long is compiled by a thread: neither on the event loop', async () => {
  const { routineId, tools } = await discovered(key, { url: hostile.url('honest') });
  const path = policyPath(routineId, tools[0]);
  const loop = vi.spyOn(Ajv2020.prototype, 'compile');
  const bomb = await key.patch(path, { argumentSchema: unions(1_150, 's') });
  expect([bomb.status, bomb.body.error.message]).toEqual([
    400,
    'argumentSchema: not a usable JSON Schema (it is too large)',
  ]);
  const slow = await key.patch(path, { argumentSchema: unions(100, 's') });
  expect(slow.status).toBe(200);
  const broken = await key.patch(path, {
    argumentSchema: { ...unions(100, 's'), required: 'nonsense' },
  });
  expect([broken.status, broken.body.error.code]).toEqual([400, 'invalid_request']);
  expect(loop).not.toHaveBeenCalled();
  // A small schema is compiled without a thread.
  await key.patch(path, { argumentSchema: { properties: { structure: { type: 'string' } } } });
  expect(loop).toHaveBeenCalledOnce();
  loop.mockRestore();
});

test('nothing is compiled anywhere for a policy that does not exist, however often it is asked', async () => {
  const { routineId, tools } = await discovered(key, { url: hostile.url('honest') });
  const foreign = policyPath(routineId, { id: unknownId(tools[0].id) });
  const jobs = vi.spyOn(BoundedThread.prototype, 'run');
  const loop = vi.spyOn(Ajv2020.prototype, 'compile');
  const answers = await Promise.all(
    [40, 100, 1_150].map((count) => key.patch(foreign, { argumentSchema: unions(count, 'n') })),
  );
  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'policy_not_found']);
  }
  expect(jobs).not.toHaveBeenCalled();
  expect(loop).not.toHaveBeenCalled();
  jobs.mockRestore();
  loop.mockRestore();
});

test('a schema is not compiled for a policy that does not exist', async () => {
  const { routineId, tools } = await discovered(key, { url: hostile.url('honest') });
  const foreign = policyPath(routineId, { id: unknownId(tools[0].id) });
  const { status, body } = await key.patch(foreign, { argumentSchema: { type: 'nonsense' } });
  expect([status, body.error.code]).toEqual([404, 'policy_not_found']);
});

test('a refusal is remembered: the thread is not asked for the same schema again, however it is written', async () => {
  const { routineId, tools } = await discovered(key, { url: hostile.url('honest') });
  const path = policyPath(routineId, tools[0]);
  const jobs = vi.spyOn(BoundedThread.prototype, 'run');
  const broken = { ...unions(100, 'r'), required: 'nonsense' };
  const inAnotherOrder = { required: 'nonsense', ...unions(100, 'r') };
  const refusals = [];
  for (const argumentSchema of [broken, inAnotherOrder, broken]) {
    refusals.push(await key.patch(path, { argumentSchema }));
  }
  expect(jobs).toHaveBeenCalledOnce();
  jobs.mockRestore();
  expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([400]));
  expect(new Set(refusals.map(({ body }) => body.error.message)).size).toBe(1);
});

test('a project has one check at the thread and 20 behind it; another project waits for one of them', async () => {
  const ended: string[] = [];
  const check = (project: string, schema: Json) =>
    assertUsableSchema(project, schema).finally(() => ended.push(project));
  const flood = Array.from({ length: 22 }, (_, index) => check('flood', unions(60, `f${index}_`)));
  const other = check('other', unions(60, 'o'));
  const settled = await Promise.allSettled(flood);
  await other;
  expect(settled.map(({ status }) => status)).toEqual([...Array.from({ length: 21 }, () => 'fulfilled'), 'rejected']);
  // The refused request ends at once.
  expect(ended.indexOf('other')).toBeLessThanOrEqual(2);
});

test('a caller who sends many schemas at once is told to come again, and another project saves', async () => {
  const other = await (await signUp(service)).key();
  const save = (client: ApiClient, name: string) =>
    client.post('/v1/routines', routineBody({ resultSchema: unions(200, name) }));
  const flood = Array.from({ length: 60 }, (_, index) => save(key, `a${index}_`));
  expect((await save(other, 'b')).status).toBe(201);
  const refused = (await Promise.all(flood)).filter(({ status }) => status !== 201);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, body, headers } of refused) {
    expect([status, body.error.code]).toEqual([429, 'rate_limited']);
    expect(headers.get('Retry-After')).toBe('2');
  }
});

test('a value that takes seconds is given up, and its schema stays usable for other projects', async () => {
  const schema = { properties: { x: { type: 'array', uniqueItems: true } } };
  const x = Array.from({ length: 40_000 }, (_, index) => [[index]]);
  await expect(schemaFault('slow', schema, { x })).rejects.toThrow('take too long');
  await expect(schemaFault('slow', schema, { x: [] })).rejects.toThrow('take too long');
  expect(await schemaFault('other', schema, { x: [[1], [1]] })).toContain('duplicate');
});

/** Changes the last digit of a policy's id, so that no policy has it. */
function unknownId(id: string): string {
  return id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
}
