import { SYSTEM } from '#core/foundation/audit/index.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { ScriptInput } from '#dev/fakes/gateway/script.ts';
import {
  createAbilityStore,
  createKnownNames,
  createModelDirectory,
  createProjectModels,
} from '#core/models/directory/index.ts';
import { patchRoutine } from '#core/authoring/routines/index.ts';
import type { RoutinePatch } from '#core/authoring/routines/save.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { createLog } from '#lib/log.ts';
import type { ApiClient } from '#test/support/client.ts';
import { sourceAt } from '#test/support/model-caller.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { routineBody } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';

const log = createLog({ level: 'silent', name: 'test' });
let gateway: Gateway;
let service: Service;
let key: ApiClient;

beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: () => undefined });
  service = await startService();
  key = await (await signUp(service)).key();
});
beforeEach(() => gateway.control.reset());
afterEach(() => vi.useRealTimers());
afterAll(async () => {
  await service.close();
  await gateway.stop();
});

function directory(settings: { timeoutMs?: number } = {}) {
  const abilities = createAbilityStore({ database: service.deps.database, log });
  const names = createKnownNames(service.deps.database, []);
  return createModelDirectory({
    names,
    sources: [sourceAt(gateway.url)],
    abilities,
    log,
    showAddresses: true,
    ...settings,
  });
}

/** Makes the fetched lists older than a minute. */
function age(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
}

function requests() {
  return gateway.control.requests().filter(({ path }) => path === '/v1/models');
}

test(
  "the models are the gateway's own list, each with provider, null connectionId, modelId and prices",
  proves('GET /v1/models'),
  async () => {
    const answer = await key.get('/v1/models');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-models-stale')).toBe('false');
    expect(Number(answer.headers.get('age'))).toBeGreaterThanOrEqual(0);
    expect(answer.data).toContainEqual({
      provider: 'gateway',
      connectionId: null,
      modelId: 'fixture/writer-small',
      name: 'Fixture Writer Small',
      source: 'gateway',
      contextTokens: 128_000,
      maxOutputTokens: null,
      prices: { input: '0.00000015', output: '0.0000006', cachedInput: '0.000000075' },
      structuredOutputs: expect.any(Boolean),
      abilities: {
        effort: expect.any(Boolean),
        structuredOutputs: expect.any(Boolean),
        tools: true,
        parallelToolCalls: null,
        streaming: null,
      },
      figures: { contextTokens: 'list', maxOutputTokens: null, prices: 'list' },
    });
    const analyst = answer.data.find((option: { modelId: string }) => option.modelId === 'fixture/analyst');
    expect(analyst.prices.input).toBe('0.000001');
    const unpriced = answer.data.find((option: { modelId: string }) => option.modelId === 'fixture/unpriced');
    expect(unpriced.prices).toBeNull();
  },
);

test('fifty callers at once cost the gateway one request, and a fresh list costs none', async () => {
  const models = directory();
  gateway.control.script({ target: 'models', latencyMs: 200 });
  const lists = await Promise.all(Array.from({ length: 50 }, () => models.list()));
  expect(new Set(lists.map(({ fetchedAt }) => fetchedAt)).size).toBe(1);
  await models.list();
  expect(requests()).toHaveLength(1);
});

test('a list that has aged is fetched again, and a model that is gone is gone', async () => {
  const models = directory();
  const reference = { provider: 'gateway', connectionId: null, modelId: 'fixture/free' } as const;
  expect(await models.find(reference)).toBeDefined();
  gateway.control.script({
    target: 'models',
    behaviour: { kind: 'list', models: [{ id: 'other/model' }] },
  });
  age();
  expect(await models.find(reference)).toBeUndefined();
});

test.each<[string, ScriptInput['behaviour']]>([
  ['answers an error', { kind: 'error', status: 500 }],
  ['breaks the connection', { kind: 'reset' }],
  ['breaks off in the middle', { kind: 'broken-stream' }],
  ['answers half a JSON', { kind: 'malformed-json' }],
  ['answers an empty list', { kind: 'list', models: [] }],
  ['answers entries that are no models', { kind: 'list', models: [1, null, { id: '' }] }],
  ['redirects', { kind: 'error', status: 302 }],
])('while the gateway %s the last list serves on and says that it is stale', async (_name, behaviour) => {
  const models = directory();
  const first = await models.list();
  expect(first.stale).toBe(false);
  gateway.control.script({ target: 'models', times: null, ...(behaviour && { behaviour }) });
  age();
  const during = await models.list();
  expect(during).toMatchObject({
    stale: true,
    options: first.options,
    fetchedAt: first.fetchedAt,
  });
});

test('during an outage the gateway is not asked by every caller', async () => {
  const models = directory();
  await models.list();
  gateway.control.reset();
  gateway.control.script({
    target: 'models',
    times: null,
    behaviour: { kind: 'error', status: 503 },
  });
  age();
  for (let index = 0; index < 20; index++) await models.list();
  expect(requests()).toHaveLength(1);
});

test('a gateway that hangs delays no caller while there is a list', async () => {
  const models = directory({ timeoutMs: 20_000 });
  await models.list();
  gateway.control.script({ target: 'models', behaviour: { kind: 'hang' } });
  age();
  expect((await models.list()).stale).toBe(true);
  // The request still hangs.
  expect(requests().at(-1)?.aborted).toBe(false);
});

test('with no list at all the response is 503 models_unavailable, and well again when the gateway is', async () => {
  const replica = await service.replica({ GATEWAY_BASE_URL: gateway.url });
  try {
    const client = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${replica.url}${path}`, {
        method,
        headers: { ...key.headers, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const parsed = (await response.json()) as { error?: { code: string } };
      return [response.status, parsed.error?.code, response.headers.get('retry-after')];
    };
    gateway.control.script({
      target: 'models',
      times: 2,
      behaviour: { kind: 'error', status: 500 },
    });
    expect(await client('GET', '/v1/models')).toEqual([503, 'models_unavailable', '5']);
    const save = await client('POST', '/v1/routines', routineBody());
    expect(save).toEqual([503, 'models_unavailable', '5']);
    expect((await client('GET', '/v1/models'))[0]).toBe(200);
    expect((await client('POST', '/v1/routines', routineBody()))[0]).toBe(201);
  } finally {
    await replica.close();
  }
});

test.each([
  ['an unknown model', { provider: 'gateway', connectionId: null, modelId: 'fixture/none' }],
  [
    'a connection beside the gateway',
    {
      provider: 'gateway',
      connectionId: 'mcn_01kx3k9y6wfd8r0v5m2c7t4q1z',
      modelId: 'fixture/writer-small',
    },
  ],
  [
    'a connected provider without a connection',
    { provider: 'provider-a', connectionId: null, modelId: 'fixture/writer-small' },
  ],
])('%s is invalid_model on create and on update', proves('routine.model'), async (_name, model) => {
  const created = await key.post('/v1/routines', routineBody({ model }));
  expect([created.status, created.body.error.code]).toEqual([400, 'invalid_model']);
  expect(created.body.error.message).toMatch(/^model: /);
  const { data } = await key.post('/v1/routines', routineBody());
  const patched = await key.patch(`/v1/routines/${data.id}`, { model });
  expect([patched.status, patched.body.error.code]).toEqual([400, 'invalid_model']);
  expect((await key.get(`/v1/routines/${data.id}`)).data.model).toEqual(data.model);
});

test('a gateway that quotes prices as numbers, and lists models that write no text, is read right', async () => {
  gateway.control.script({
    target: 'models',
    behaviour: {
      kind: 'list',
      models: [
        { id: 'a', pricing: { input: 0.000001, output: 0.000002 } },
        { id: 'b', type: 'embedding' },
        { id: 'c', context_length: -1, name: 7, pricing: 'free' },
      ],
    },
  });
  const { options } = await directory().list();
  expect(options.map(({ modelId, prices, contextTokens }) => [modelId, prices, contextTokens])).toEqual([
    ['a', { input: '0.000001', output: '0.000002', cachedInput: null }, null],
    ['c', null, null],
  ]);
});

test('a routine whose model is gone can be changed only together with its model', async () => {
  const person = await signUp(service);
  const owner = await person.key();
  const { data } = await owner.post('/v1/routines', routineBody());
  gateway.control.script({
    target: 'models',
    times: null,
    behaviour: { kind: 'list', models: [{ id: 'only/one' }] },
  });
  const models = createProjectModels({ ...service.deps, directory: directory() });
  const change = (patch: RoutinePatch) =>
    patchRoutine(
      { ...service.deps, models },
      {
        id: data.id,
        projectId: person.projectId,
        patch,
        expectedVersions: undefined,
        origin: { actor: null },
        by: SYSTEM,
      },
    );

  await expect(change({ name: 'Another name' })).rejects.toMatchObject({ code: 'invalid_model' });
  const model = { provider: 'gateway', connectionId: null, modelId: 'only/one' } as const;
  const { routine } = await change({ name: 'Another name', model });
  expect(routine).toMatchObject({ name: 'Another name', model, version: 2 });
});
