import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { proves } from '#test/support/proves.ts';
import { startEverythingServer, type EverythingServer } from './everything-server.ts';
import { discovered, policyPath, type Json } from './support.ts';
import { changeRoutines } from '#test/support/given.ts';

let service: Service;
let everything: EverythingServer;
let person: Person;
let key: ApiClient;

beforeAll(async () => {
  [service, everything] = await Promise.all([sharedService(), startEverythingServer()]);
  person = await signUp(service);
  key = await person.key();
});
afterAll(async () => {
  await everything?.stop();
});

function discover() {
  return discovered(key, { name: 'Everything', url: everything.url });
}

test(
  'a tool server is connected and says what it is called; its token is never returned',
  proves('POST /v1/connections', 'GET /v1/connections'),
  async () => {
    const created = await key.post('/v1/connections', {
      name: 'Everything',
      url: `${everything.url}?api_key=query-canary`,
      bearerToken: 'canary-token-1f9c',
    });
    expect(created.status).toBe(201);
    expect(created.data).toMatchObject({
      kind: 'tool_server',
      provider: null,
      name: 'Everything',
      auth: 'bearer',
      state: 'ready',
      error: null,
      server: { name: 'mcp-servers/everything', protocolVersion: expect.stringMatching(/^\d{4}-/) },
    });
    const list = await key.get('/v1/connections');
    expect(list.data.map(({ id }: { id: string }) => id)).toContain(created.data.id);
    const read = await key.get(`/v1/connections/${created.data.id}`);
    expect(read.data).toEqual(created.data);
    const stranger = await (await signUp(service)).key();
    expect((await stranger.get(`/v1/connections/${created.data.id}`)).status).toBe(404);
    expect(JSON.stringify([created.body, list.body])).not.toMatch(/canary/);
    const stored = await service.deps.database.query('select * from connections');
    expect(JSON.stringify(stored.rows)).not.toContain('canary-token');
  },
);

test(
  'discovery gives each tool a disabled policy with what the server says of it',
  proves(
    'policy.discovered',
    'POST /v1/routines/:routineId/connections/:connectionId/discover',
    'GET /v1/routines/:routineId/tools',
  ),
  async () => {
    const { routineId, connectionId, tools } = await discover();
    expect(tools.length).toBeGreaterThan(5);
    expect(new Set(tools.map(({ state }) => state))).toEqual(new Set(['disabled']));
    const echo = tools.find(({ name }) => name === 'echo');
    expect(echo).toMatchObject({
      connectionId,
      routineId,
      inputSchema: { type: 'object', required: ['message'] },
      confirmedHash: null,
      confirmedBy: null,
      definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const listed = await key.get(`/v1/routines/${routineId}/tools?limit=2`);
    expect(listed.data).toHaveLength(2);
    expect(listed.headers.get('link')).toContain('rel="next"');
  },
);

test('routines are found by the connection that they may call a tool of', async () => {
  const { routineId, connectionId, tools } = await discover();
  const found = async () => {
    const { data } = await key.get(`/v1/routines?uses=${connectionId}`);
    return data.map(({ id }: { id: string }) => id);
  };
  expect(await found()).toEqual([]);
  await key.patch(policyPath(routineId, tools[0]), { confirmAutomaticExecution: true });
  expect(await found()).toEqual([routineId]);
});

test('discovering again changes nothing when the server has not changed', async () => {
  const { routineId, connectionId, tools } = await discover();
  const before = await key.get(`/v1/routines/${routineId}`);
  const again = await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  expect(again.data).toMatchObject({ added: 0, changed: 0, vanished: 0, unchanged: tools.length });
  expect(again.data.tools).toEqual(tools);
  expect((await key.get(`/v1/routines/${routineId}`)).data).toEqual(before.data);
});

test.each([
  ['an empty body', {}],
  ['confirmAutomaticExecution: false', { confirmAutomaticExecution: false }],
  ['state: automatic alone', { state: 'automatic' }],
])('%s does not make a tool automatic', async (_, body) => {
  const { routineId, tools } = await discover();
  const refused = await key.patch(policyPath(routineId, tools[0]), body);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'confirmation_required']);
  const { data } = await key.get(`/v1/routines/${routineId}/tools`);
  expect(new Set(data.map(({ state }: Json) => state))).toEqual(new Set(['disabled']));
});

test(
  'a confirmation pins the definition, names who confirmed, and is a material change',
  proves('policy.automatic', 'PATCH /v1/routines/:routineId/tools/:policyId'),
  async () => {
    const { routineId, tools } = await discover();
    const before = (await key.get(`/v1/routines/${routineId}`)).data;
    const confirmed = await person.session.patch(policyPath(routineId, tools[0]), {
      confirmAutomaticExecution: true,
      definitionHash: tools[0].definitionHash,
      maxCallsPerRun: 3,
    });
    expect(confirmed.status).toBe(200);
    expect(confirmed.data).toMatchObject({
      state: 'automatic',
      confirmedHash: tools[0].definitionHash,
      confirmedBy: person.userId,
      maxCallsPerRun: 3,
    });
    const after = (await key.get(`/v1/routines/${routineId}`)).data;
    expect(after).toMatchObject({ state: 'draft', revision: before.revision + 1, nextRunAt: null });
  },
);

test(
  'without a confirmation an automatic tool can only be made stricter',
  proves('PATCH /v1/routines/:routineId/tools/:policyId'),
  async () => {
    const { routineId, tools } = await discover();
    const path = policyPath(routineId, tools[0]);
    await key.patch(path, { confirmAutomaticExecution: true, maxCallsPerRun: 5 });
    const schema = { properties: { message: { const: 'hello' } } };
    for (const [body, status] of [
      [{ maxCallsPerRun: 10 }, 400],
      [{ maxCallsPerRun: null }, 400],
      [{ maxCallsPerRun: 2 }, 200],
      [{ argumentSchema: schema }, 200],
      [{ argumentSchema: null }, 400],
      [{ argumentSchema: {} }, 400],
      [{ state: 'disabled' }, 200],
    ] as const) {
      expect([body, (await key.patch(path, body)).status]).toEqual([body, status]);
    }
    const { data } = await key.patch(path, {
      confirmAutomaticExecution: true,
      argumentSchema: null,
    });
    expect(data).toMatchObject({ state: 'automatic', maxCallsPerRun: 2, argumentSchema: null });
  },
);

test('a confirmation of another definition than the present one is refused', async () => {
  const { routineId, tools } = await discover();
  const body = { confirmAutomaticExecution: true, definitionHash: '0'.repeat(64) };
  expect((await key.patch(policyPath(routineId, tools[0]), body)).status).toBe(412);
});

test('an argument schema that cannot be used is refused with the reason', async () => {
  const { routineId, tools } = await discover();
  for (const argumentSchema of [
    { type: 'nonsense' },
    { $ref: 'https://example.com/schema' },
    { $async: true },
    { properties: { a: { pattern: '(' } } },
  ]) {
    const refused = await key.patch(policyPath(routineId, tools[0]), { argumentSchema });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.error.message).toMatch(/^argumentSchema: /);
  }
});

test('a change of its tools that takes a routine off its schedule is on record, with who made it', async () => {
  const { routineId, connectionId, tools } = await discover();
  const activate = () => changeRoutines(service.deps.database, routineId, { state: 'active' });
  const policy = policyPath(routineId, tools[0]);
  await activate();
  await person.session.patch(policy, { confirmAutomaticExecution: true });
  // The routine is a draft by now and has no schedule that this change could stop.
  await person.session.patch(policy, { maxCallsPerRun: 2 });
  await activate();
  await key.delete(`/v1/connections/${connectionId}`);
  const query = `organizationId=${person.organizationId}&targetId=${routineId}`;
  const { data } = await person.session.get(`/v1/audit-events?${query}`);
  const of = ({ action, actor, details }: Json) => [action, actor.kind, details.revision];
  expect(data.map(of)).toEqual([
    ['routine.deactivated', 'key', 4],
    ['routine.deactivated', 'person', 2],
  ]);
});

test(
  'deleting a connection deletes its policies and takes the routines that used it to draft',
  proves('DELETE /v1/connections/:connectionId'),
  async () => {
    const { routineId, connectionId, tools } = await discover();
    await key.patch(policyPath(routineId, tools[0]), { confirmAutomaticExecution: true });
    await changeRoutines(service.deps.database, routineId, { state: 'active' });
    const bystander = await discover();
    const removed = await key.delete(`/v1/connections/${connectionId}`);
    expect(removed.status).toBe(200);
    expect(removed.data.draftedRoutineIds).toEqual([routineId]);
    const routine = (await key.get(`/v1/routines/${routineId}`)).data;
    expect(routine).toMatchObject({
      state: 'draft',
      stateReason: expect.stringContaining('"Everything"'),
    });
    expect((await key.get(`/v1/routines/${routineId}/tools`)).data).toEqual([]);
    expect((await key.delete(`/v1/connections/${connectionId}`)).status).toBe(404);
    const other = (await key.get(`/v1/routines/${bystander.routineId}/tools`)).data;
    expect(other).toHaveLength(bystander.tools.length);
  },
);

test('nothing of a project can be seen or changed from another one', async () => {
  const { routineId, connectionId, tools } = await discover();
  const stranger = await (await signUp(service)).key();
  const own = await createRoutine(stranger);
  for (const [method, path, body] of [
    ['DELETE', `/v1/connections/${connectionId}`, undefined],
    ['GET', `/v1/routines/${routineId}/tools`, undefined],
    ['PATCH', policyPath(routineId, tools[0]), { confirmAutomaticExecution: true }],
    ['PATCH', policyPath(own, tools[0]), { confirmAutomaticExecution: true }],
    ['POST', `/v1/routines/${routineId}/connections/${connectionId}/discover`, {}],
    ['POST', `/v1/routines/${own}/connections/${connectionId}/discover`, {}],
  ] as const) {
    expect([path, (await stranger.send(method, path, body)).status]).toEqual([path, 404]);
  }
});

test('an archived routine takes no policies', async () => {
  const { routineId, connectionId, tools } = await discover();
  await key.delete(`/v1/routines/${routineId}`);
  const patched = await key.patch(policyPath(routineId, tools[0]), {
    confirmAutomaticExecution: true,
  });
  const again = await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  expect([patched, again].map(({ body }) => body.error.code)).toEqual(['routine_archived', 'routine_archived']);
});

test('an inline tool in the body of a routine is refused', async () => {
  const refused = await key.post('/v1/routines', {
    name: 'x',
    instructions: 'x',
    schedule: '@daily',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
    tools: [{ name: 'shell' }],
  });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'tool_policy_requires_connection']);
});
